import type { MigrationInterface, QueryRunner } from 'typeorm';

const KINDS = `'invoice_finalized', 'payment', 'refund', 'credit_note', 'void', 'write_off', 'recovery', 'revenue_release'`;

/** Credit may lower invoices that were finalized before it, which the ledger tells as a kind of its own. */
export class ApplyCreditToOpenInvoices1795410030002 implements MigrationInterface {
  readonly name = 'ApplyCreditToOpenInvoices1795410030002';

  up(queryRunner: QueryRunner): Promise<void> {
    return allow(queryRunner, `${KINDS}, 'credit_applied'`);
  }

  /** Refused where such a transaction was posted: the books keep it. */
  down(queryRunner: QueryRunner): Promise<void> {
    return allow(queryRunner, KINDS);
  }
}

/** Rows are checked while others write. */
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
