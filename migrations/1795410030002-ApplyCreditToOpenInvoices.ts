import type { MigrationInterface, QueryRunner } from 'typeorm';

const KINDS = `'invoice_finalized', 'payment', 'refund', 'credit_note', 'void', 'write_off', 'recovery', 'revenue_release'`;

/** Lets credit reduce invoices that are already finalized. The ledger has a new kind of transaction for this. */
export class ApplyCreditToOpenInvoices1795410030002 implements MigrationInterface {
  readonly name = 'ApplyCreditToOpenInvoices1795410030002';

  up(queryRunner: QueryRunner): Promise<void> {
    return allow(queryRunner, `${KINDS}, 'credit_applied'`);
  }

  /** Fails if a transaction of the new kind exists, because nothing may be deleted from the ledger. */
  down(queryRunner: QueryRunner): Promise<void> {
    return allow(queryRunner, KINDS);
  }
}

/** Validates existing rows without blocking writers. */
async function allow(queryRunner: QueryRunner, kinds: string): Promise<void> {
  await queryRunner.query(
    'ALTER TABLE "ledger_transaction" DROP CONSTRAINT "ledger_transaction_kind_check"',
  );
  await queryRunner.query(`
    ALTER TABLE "ledger_transaction"
    ADD CONSTRAINT "ledger_transaction_kind_check" CHECK ("kind" IN (${kinds})) NOT VALID
  `);
  await queryRunner.query(
    'ALTER TABLE "ledger_transaction" VALIDATE CONSTRAINT "ledger_transaction_kind_check"',
  );
}
