import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Turns the part of each payment that paid no invoice into a credit. Invoices can use the credit, and refunds reserve
 * it.
 */
export class KeepPaymentsAsCredit1795410030001 implements MigrationInterface {
  readonly name = 'KeepPaymentsAsCredit1795410030001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "credit_grant"
      ADD "reserved" bigint NOT NULL DEFAULT '0',
      ADD "refunded" bigint NOT NULL DEFAULT '0'
    `);
    await queryRunner.query(
      'ALTER TABLE "credit_grant" DROP CONSTRAINT "credit_grant_remaining_check"',
    );
    await queryRunner.query(`
      ALTER TABLE "credit_grant"
      ADD CONSTRAINT "credit_grant_remaining_check" CHECK (
              "remaining" >= 0
              AND "reserved" >= 0
              AND "refunded" >= 0
              AND "remaining" + "reserved" + "refunded" <= "amount"
          )
    `);
    // Refunds, pending ones included, take first the part that paid no invoice.
    await queryRunner.query(`
      INSERT INTO "credit_grant"
        ("id", "customer_id", "currency", "amount", "remaining", "reserved", "refunded", "source_id", "created_at")
      SELECT 'crd_' || substr("id", 5), "customer_id", "currency", "credit",
        "credit" - least("credit", "amount_refunded" + "amount_refund_pending"),
        least("credit", "amount_refunded" + "amount_refund_pending") - least("credit", "amount_refunded"),
        least("credit", "amount_refunded"), "id", "created_at"
      FROM "payment", LATERAL (SELECT "amount" - "amount_applied" AS "credit") AS "left"
      WHERE "status" = 'succeeded' AND "credit" > 0
    `);
    await queryRunner.query(`
      ALTER TABLE "credit_grant"
      ADD CONSTRAINT "credit_grant_source_unique" UNIQUE ("source_id")
    `);
    await queryRunner.query('DROP INDEX "credit_grant_customer_index"');
    await queryRunner.query(`
      CREATE INDEX "credit_grant_customer_index" ON "credit_grant" ("customer_id", "created_at", "id")
      WHERE "remaining" > 0 OR "reserved" > 0
    `);
  }

  /** Deletes the credits that came from payments, because the former schema does not have them. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "credit_grant_customer_index"');
    await queryRunner.query(
      'ALTER TABLE "credit_grant" DROP CONSTRAINT "credit_grant_source_unique"',
    );
    await queryRunner.query(`DELETE FROM "credit_grant" WHERE "source_id" LIKE 'pay\\_%'`);
    await queryRunner.query(
      'ALTER TABLE "credit_grant" DROP CONSTRAINT "credit_grant_remaining_check"',
    );
    await queryRunner.query(
      'ALTER TABLE "credit_grant" DROP COLUMN "refunded", DROP COLUMN "reserved"',
    );
    await queryRunner.query(`
      ALTER TABLE "credit_grant"
      ADD CONSTRAINT "credit_grant_remaining_check" CHECK ("remaining" >= 0 AND "remaining" <= "amount")
    `);
    await queryRunner.query(`
      CREATE INDEX "credit_grant_customer_index" ON "credit_grant" ("customer_id", "created_at", "id")
      WHERE "remaining" > 0
    `);
  }
}
