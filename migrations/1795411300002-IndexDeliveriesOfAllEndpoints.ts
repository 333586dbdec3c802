import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  webhook_delivery_any_status_index: '"webhook_delivery" ("status", "id")',
  webhook_delivery_created_index: '"webhook_delivery" ("created_at", "id")',
  webhook_delivery_type_index: '"webhook_delivery" ("event_type", "id")',
};

/** Adds an index for each filter of the list of deliveries to all endpoints, from which a page is read. */
export class IndexDeliveriesOfAllEndpoints1795411300002 implements MigrationInterface {
  readonly name = 'IndexDeliveriesOfAllEndpoints1795411300002';
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
