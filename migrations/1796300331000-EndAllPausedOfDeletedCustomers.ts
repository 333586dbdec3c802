import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Makes one batch of subscriptions due. Each batch is a commit. The last conditions apply to the locked row, which a
 * running process may have changed meanwhile. A paused subscription whose period is over has no due work but its
 * scheduled end, which is later than the period.
 */
const MAKE_DUE = `
  WITH batch AS (
    SELECT "subscription"."id", "customer"."deleted_at"
    FROM "subscription" JOIN "customer" ON "customer"."id" = "subscription"."customer_id"
    WHERE "subscription"."status" = 'paused' AND "customer"."deleted_at" IS NOT NULL
      AND ("subscription"."next_billing_at" IS NULL
        OR "subscription"."next_billing_at" > greatest("current_period_end_at", "customer"."deleted_at"))
    LIMIT 1000
  ), due AS (
    UPDATE "subscription" SET "next_billing_at" = batch."deleted_at" FROM batch
    WHERE "subscription"."id" = batch."id" AND "subscription"."status" = 'paused'
      AND ("subscription"."next_billing_at" IS NULL
        OR "subscription"."next_billing_at" > greatest("current_period_end_at", batch."deleted_at"))
    RETURNING "subscription"."id"
  )
  SELECT "id" FROM due`;

/**
 * Makes the paused subscriptions due whose customer was deleted after their period, so that they end as of the
 * deletion. Nothing could end them before their scheduled end, or ever if no end was scheduled. Includes those that the
 * migration 1796300330300 makes due. Can be repeated.
 */
export class EndAllPausedOfDeletedCustomers1796300331000 implements MigrationInterface {
  readonly name = 'EndAllPausedOfDeletedCustomers1796300331000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    let due: readonly unknown[];
    do {
      due = (await queryRunner.query(MAKE_DUE)) as readonly unknown[];
    } while (due.length > 0);
  }

  /** The subscriptions stay due: the previous release ends them as well. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
