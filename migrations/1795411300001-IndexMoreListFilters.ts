import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  credit_note_created_index: '"credit_note" ("created_at", "id")',
  credit_note_status_index: '"credit_note" ("status", "id")',
  customer_created_index: '"customer" ("created_at", "id") WHERE "deleted_at" IS NULL',
  customer_currency_index: '"customer" ("currency", "id") WHERE "deleted_at" IS NULL',
  invoice_created_index: '"invoice" ("created_at", "id")',
  invoice_due_index: '"invoice" ("due_at", "id") WHERE "due_at" IS NOT NULL',
  invoice_finalized_index: '"invoice" ("finalized_at", "id") WHERE "finalized_at" IS NOT NULL',
  invoice_open_overdue_index: `"invoice" ("id") WHERE "status" = 'open' AND "overdue_at" IS NOT NULL`,
  invoice_total_index: '"invoice" ("total", "id")',
  payment_created_index: '"payment" ("created_at", "id")',
  payment_status_index: '"payment" ("status", "id")',
  refund_created_at_index: '"refund" ("created_at", "id")',
  refund_status_index: '"refund" ("status", "id")',
  subscription_plan_index: '"subscription" ("plan_id", "id")',
};

/** Adds an index for each new filter and each new order of a list, from which a page is read. */
export class IndexMoreListFilters1795411300001 implements MigrationInterface {
  readonly name = 'IndexMoreListFilters1795411300001';
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
