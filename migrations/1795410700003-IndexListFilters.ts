import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  invoice_status_index: '"invoice" ("status", "id")',
  subscription_status_index: '"subscription" ("status", "id")',
  webhook_delivery_status_index: '"webhook_delivery" ("endpoint_id", "status", "id")',
  provider_discrepancy_status_index: '"provider_discrepancy" ("status", "id")',
  event_type_occurred_at_index: '"event" ("type", "occurred_at", "id")',
};

/** Adds an index for each filter of a list, from which a page is read. Builds the indexes without blocking writers. */
export class IndexListFilters1795410700003 implements MigrationInterface {
  readonly name = 'IndexListFilters1795410700003';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, columns] of Object.entries(INDEXES)) {
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
      await queryRunner.query(`CREATE INDEX CONCURRENTLY "${name}" ON ${columns}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await queryRunner.query(`DROP INDEX "${name}"`);
  }
}
