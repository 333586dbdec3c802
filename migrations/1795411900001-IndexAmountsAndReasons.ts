import type { MigrationInterface, QueryRunner } from 'typeorm';

const FAILED = 'WHERE "failure_code" IS NOT NULL';

const INDEXES = {
  credit_note_currency_index: '"credit_note" ("currency", "id")',
  credit_note_currency_total_index: '"credit_note" ("currency", "total", "id")',
  invoice_collection_time_index: '"invoice" ("collection", left("id", 13))',
  invoice_currency_time_index: '"invoice" ("currency", left("id", 13))',
  invoice_currency_total_time_index: '"invoice" ("currency", "total", left("id", 13))',
  invoice_reason_time_index: '"invoice" ("reason", left("id", 13))',
  payment_currency_amount_index: '"payment" ("currency", "amount", "id")',
  payment_currency_index: '"payment" ("currency", "id")',
  payment_failure_code_index: `"payment" ("failure_code", "id") ${FAILED}`,
  refund_currency_amount_index: '"refund" ("currency", "amount", "id")',
  refund_currency_index: '"refund" ("currency", "id")',
  refund_failure_code_index: `"refund" ("failure_code", "id") ${FAILED}`,
  subscription_renews_index: `"subscription" ("current_period_end_at", "id")
    WHERE "status" IN ('trialing', 'active', 'past_due', 'unpaid')
      AND ("cancel_at" IS NULL OR "cancel_at" > "current_period_end_at")`,
};

/** Adds indexes for the filters by currency, amount, reason, collection, failure and renewal, from which a page is read. */
export class IndexAmountsAndReasons1795411900001 implements MigrationInterface {
  readonly name = 'IndexAmountsAndReasons1795411900001';
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
