import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Makes one batch of subscriptions due. Each batch is a commit. The last conditions apply to the locked row, which a
 * running process may have changed meanwhile.
 */
const MAKE_DUE = `
  WITH batch AS (
    SELECT "subscription"."id", "customer"."deleted_at"
    FROM "subscription" JOIN "customer" ON "customer"."id" = "subscription"."customer_id"
    WHERE "subscription"."status" = 'paused' AND "subscription"."next_billing_at" IS NULL
      AND "customer"."deleted_at" IS NOT NULL
    LIMIT 1000
  ), due AS (
    UPDATE "subscription" SET "next_billing_at" = batch."deleted_at" FROM batch
    WHERE "subscription"."id" = batch."id"
      AND "subscription"."status" = 'paused' AND "subscription"."next_billing_at" IS NULL
    RETURNING "subscription"."id"
  )
  SELECT "id" FROM due`;

/**
 * Makes the paused subscriptions due whose customer the previous release deleted after their period, so that they end
 * as of the deletion. They had no due work, and nothing could end them.
 */
export class EndPausedOfDeletedCustomers1796300330300 implements MigrationInterface {
  readonly name = 'EndPausedOfDeletedCustomers1796300330300';
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
