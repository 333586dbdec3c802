import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Payments of invoices: how much of an invoice is reserved for payments in progress, how much of a payment paid its
 * invoice, and what was sent to the provider.
 */
export class PayInvoices1795310000001 implements MigrationInterface {
  readonly name = 'PayInvoices1795310000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "invoice"
      ADD "test_clock_id" character varying(40) COLLATE "C"
    `);
    await queryRunner.query(`
      UPDATE "invoice" SET "test_clock_id" = "customer"."test_clock_id"
      FROM "customer"
      WHERE "customer"."id" = "invoice"."customer_id" AND "customer"."test_clock_id" IS NOT NULL
    `);
    await queryRunner.query(`
      ALTER TABLE "invoice"
      ADD "amount_pending" bigint NOT NULL DEFAULT '0'
    `);
    await queryRunner.query(`
      ALTER TABLE "payment"
      ADD "invoice_id" character varying(40) COLLATE "C"
    `);
    await queryRunner.query(`
      ALTER TABLE "payment"
      ADD "amount_applied" bigint NOT NULL DEFAULT '0'
    `);
    await queryRunner.query(`
      ALTER TABLE "payment"
      ADD "provider_token" character varying(255)
    `);
    await queryRunner.query(`
      UPDATE "payment" SET "provider_token" = "payment_method_id" WHERE "payment_method_id" IS NOT NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "payment_invoice_index" ON "payment" ("invoice_id", "id")
      WHERE "invoice_id" IS NOT NULL
    `);
    await queryRunner.query(`
      ALTER TABLE "invoice"
      ADD CONSTRAINT "invoice_pending_check" CHECK (
              "amount_pending" >= 0
              AND "amount_pending" <= "amount_due"
          )
    `);
    await queryRunner.query(`
      ALTER TABLE "payment"
      ADD CONSTRAINT "payment_applied_check" CHECK (
              "amount_applied" = 0
              OR (
                  "amount_applied" > 0
                  AND "amount_applied" <= "amount"
                  AND "status" = 'succeeded'
                  AND "invoice_id" IS NOT NULL
              )
          )
    `);
    await queryRunner.query(`
      ALTER TABLE "invoice"
      ADD CONSTRAINT "invoice_test_clock_id_fkey" FOREIGN KEY ("test_clock_id") REFERENCES "test_clock"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "payment"
      ADD CONSTRAINT "payment_invoice_id_fkey" FOREIGN KEY ("invoice_id") REFERENCES "invoice"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "payment" DROP COLUMN "provider_token", DROP COLUMN "amount_applied", DROP COLUMN "invoice_id"',
    );
    await queryRunner.query(
      'ALTER TABLE "invoice" DROP COLUMN "amount_pending", DROP COLUMN "test_clock_id"',
    );
  }
}
