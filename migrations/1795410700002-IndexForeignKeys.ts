import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  customer_test_clock_index: '"customer" ("test_clock_id", "id") WHERE "test_clock_id" IS NOT NULL',
  subscription_test_clock_index:
    '"subscription" ("test_clock_id") WHERE "test_clock_id" IS NOT NULL',
  invoice_test_clock_index: '"invoice" ("test_clock_id") WHERE "test_clock_id" IS NOT NULL',
  price_meter_id_index: '"price" ("meter_id") WHERE "meter_id" IS NOT NULL',
  coupon_redemption_customer_index: '"coupon_redemption" ("customer_id")',
  credit_grant_owner_index: '"credit_grant" ("customer_id", "id")',
  credit_note_customer_index: '"credit_note" ("customer_id")',
  payment_method_owner_index: '"payment_method" ("customer_id", "id")',
};

/**
 * Adds indexes for foreign keys. When a row is deleted, PostgreSQL looks for rows that refer to it: without an index,
 * the deletion of a test clock reads whole tables for each of its customers. Builds the indexes without blocking
 * writers.
 */
export class IndexForeignKeys1795410700002 implements MigrationInterface {
  readonly name = 'IndexForeignKeys1795410700002';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, columns] of Object.entries(INDEXES)) {
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
      await queryRunner.query(`CREATE INDEX CONCURRENTLY "${name}" ON ${columns}`);
    }
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "payment_method_customer_index"');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX "payment_method_customer_index" ON "payment_method" ("customer_id", "id")
      WHERE "deleted_at" IS NULL
    `);
    for (const name of Object.keys(INDEXES)) await queryRunner.query(`DROP INDEX "${name}"`);
  }
}
