import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets two payments reserve the same amount of an invoice: after a restore, a payment can be found that the database
 * had lost.
 */
export class ReserveBeyondTheAmountDue1795411601010 implements MigrationInterface {
  readonly name = 'ReserveBeyondTheAmountDue1795411601010';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "invoice" DROP CONSTRAINT "invoice_pending_check",
      ADD CONSTRAINT "invoice_pending_check" CHECK ("amount_pending" >= 0) NOT VALID
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "invoice" DROP CONSTRAINT "invoice_pending_check",
      ADD CONSTRAINT "invoice_pending_check"
      CHECK ("amount_pending" >= 0 AND "amount_pending" <= "amount_due") NOT VALID
    `);
  }
}
