import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Automatic charges of invoices, and a mark for invoices whose overdue event was recorded. The upgrade does not charge
 * invoices that are already open. They are charged when their customer gets a default payment method.
 */
export class CollectInvoices1795310000003 implements MigrationInterface {
  readonly name = 'CollectInvoices1795310000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "invoice"
      ADD "attempt_count" integer NOT NULL DEFAULT '0',
      ADD "collect_at" TIMESTAMP(3) WITH TIME ZONE,
      ADD "overdue_at" TIMESTAMP(3) WITH TIME ZONE
    `);
    await queryRunner.query(`
      ALTER TABLE "invoice"
      ADD CONSTRAINT "invoice_collect_check" CHECK (
          "attempt_count" >= 0
          AND (
              "collect_at" IS NULL
              OR (
                  "collection" = 'automatic'
                  AND "status" <> 'draft'
              )
          )
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "invoice_collect_index" ON "invoice" ("collect_at")
      WHERE "collect_at" IS NOT NULL AND "test_clock_id" IS NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "invoice_test_clock_collect_index" ON "invoice" ("test_clock_id", "collect_at")
      WHERE "collect_at" IS NOT NULL AND "test_clock_id" IS NOT NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "invoice_overdue_index" ON "invoice" ("due_at")
      WHERE "status" = 'open' AND "overdue_at" IS NULL AND "test_clock_id" IS NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "invoice_test_clock_overdue_index" ON "invoice" ("test_clock_id", "due_at")
      WHERE "status" = 'open' AND "overdue_at" IS NULL AND "test_clock_id" IS NOT NULL
    `);
    await queryRunner.query(`
      ALTER TABLE "payment"
      ADD "collection_attempt" integer
    `);
    await queryRunner.query(`
      ALTER TABLE "payment"
      ADD CONSTRAINT "payment_collection_attempt_check" CHECK (
          "collection_attempt" IS NULL
          OR (
              "collection_attempt" >= 1
              AND "invoice_id" IS NOT NULL
          )
      )
    `);
    await queryRunner.query(`
      ALTER TABLE "payment"
      ADD CONSTRAINT "payment_collection_attempt_unique" UNIQUE ("invoice_id", "collection_attempt")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "payment" DROP COLUMN "collection_attempt"');
    await queryRunner.query(
      'ALTER TABLE "invoice" DROP COLUMN "overdue_at", DROP COLUMN "collect_at", DROP COLUMN "attempt_count"',
    );
  }
}
