import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables in which each event or consumption updates a row. */
const TABLES = ['usage_stream', 'usage_tally', 'customer_entitlement'];

/**
 * Leaves room on new pages, so that the new version of a row stays on its page and needs no new index entries. Existing
 * pages get room only when their rows are written again.
 */
export class LeaveRoomForUpdates1795410800001 implements MigrationInterface {
  readonly name = 'LeaveRoomForUpdates1795410800001';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`ALTER TABLE ${table} SET (fillfactor = 70)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`ALTER TABLE ${table} RESET (fillfactor)`);
    // As an earlier migration left it.
    await runner.query('ALTER TABLE customer_entitlement SET (fillfactor = 80)');
  }
}
