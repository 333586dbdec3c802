import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables whose rows each event or consumption updates in place. */
const TABLES = ['usage_stream', 'usage_tally', 'customer_entitlement'];

/**
 * Leaves room in new pages, so that an update stays in its page and needs no new index entries. Existing pages keep their
 * layout until their rows are written again.
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
