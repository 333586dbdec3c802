import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Makes one batch of subscriptions due. Each batch is a commit. The last conditions apply to the locked row, which a
 * running process may have activated or expired meanwhile.
 */
const MAKE_DUE = `
  WITH batch AS (
    SELECT "id" FROM "subscription"
    WHERE "status" = 'incomplete' AND "incomplete_expires_at" IS NOT NULL AND "next_billing_at" IS NULL
      AND NOT EXISTS (
        SELECT FROM "invoice"
        WHERE "subscription_id" = "subscription"."id" AND "status" = 'open' AND "amount_pending" > 0)
    LIMIT 1000
  ), due AS (
    UPDATE "subscription" SET "next_billing_at" = "incomplete_expires_at" FROM batch
    WHERE "subscription"."id" = batch."id"
      AND "subscription"."incomplete_expires_at" IS NOT NULL AND "subscription"."next_billing_at" IS NULL
    RETURNING "subscription"."id"
  )
  SELECT "id" FROM due`;

/**
 * Lets subscriptions expire that waited for their first payment for ever: the payment failed by a clock that was behind
 * the one by which it was late. Those with a payment in flight still wait for it.
 */
export class ExpireUnpaidStarts1796300230000 implements MigrationInterface {
  readonly name = 'ExpireUnpaidStarts1796300230000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    let due: readonly unknown[];
    do {
      due = (await queryRunner.query(MAKE_DUE)) as readonly unknown[];
    } while (due.length > 0);
  }

  /** The subscriptions stay due: the previous release expires them as well. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
