import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets renewal invoices stay drafts for a grace period. Its length can be set for each customer. */
export class KeepRenewalDrafts1795370000001 implements MigrationInterface {
  readonly name = 'KeepRenewalDrafts1795370000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "customer" ADD "invoice_grace_hours" integer');
    await queryRunner.query(`
      ALTER TABLE "customer"
      ADD CONSTRAINT "customer_invoice_grace_hours_check" CHECK ("invoice_grace_hours" BETWEEN 0 AND 720)
    `);
    await queryRunner.query(`
      ALTER TABLE "invoice"
      ADD "finalizes_at" TIMESTAMP(3) WITH TIME ZONE,
      ADD "ordered_lines" jsonb,
      ADD "lease_ends_at" TIMESTAMP(3) WITH TIME ZONE
    `);
    await queryRunner.query(`
      ALTER TABLE "invoice"
      ADD CONSTRAINT "invoice_finalizes_check" CHECK (
          ("finalizes_at" IS NULL) = ("ordered_lines" IS NULL)
          AND (
              "finalizes_at" IS NULL
              OR "status" = 'draft'
          )
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "invoice_finalizes_index" ON "invoice" ("finalizes_at")
      WHERE "finalizes_at" IS NOT NULL AND "test_clock_id" IS NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "invoice_test_clock_finalizes_index" ON "invoice" ("test_clock_id", "finalizes_at")
      WHERE "finalizes_at" IS NOT NULL AND "test_clock_id" IS NOT NULL
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "invoice" DROP COLUMN "lease_ends_at", DROP COLUMN "ordered_lines", DROP COLUMN "finalizes_at"',
    );
    await queryRunner.query('ALTER TABLE "customer" DROP COLUMN "invoice_grace_hours"');
  }
}
