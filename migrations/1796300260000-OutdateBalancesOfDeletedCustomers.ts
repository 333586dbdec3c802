import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Outdates the balances of one batch of deleted customers. Each batch is a commit. A customer whose version another
 * transaction has locked may be skipped, because that transaction increments the version itself.
 */
const OUTDATE = `
  WITH batch AS (
    SELECT "access"."customer_id"
    FROM "customer_access" AS "access" JOIN "customer" ON "customer"."id" = "access"."customer_id"
    WHERE "deleted_at" IS NOT NULL AND EXISTS (
      SELECT FROM "customer_entitlement" AS "balance"
      WHERE "balance"."customer_id" = "access"."customer_id" AND "balance"."access_version" = "access"."version"
    )
    ORDER BY "access"."customer_id" LIMIT 1000
    FOR NO KEY UPDATE OF "access" SKIP LOCKED
  ), outdated AS (
    UPDATE "customer_access" SET "version" = "version" + 1 FROM batch
    WHERE "customer_access"."customer_id" = batch."customer_id"
    RETURNING "customer_access"."customer_id"
  )
  SELECT "customer_id" FROM outdated`;

/**
 * Outdates the entitlement balances of deleted customers that the previous release recalculated after the deletion, so
 * that access checks no longer find them.
 */
export class OutdateBalancesOfDeletedCustomers1796300260000 implements MigrationInterface {
  readonly name = 'OutdateBalancesOfDeletedCustomers1796300260000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    let outdated: readonly unknown[];
    do {
      outdated = (await queryRunner.query(OUTDATE)) as readonly unknown[];
    } while (outdated.length > 0);
  }

  /** Does nothing: an outdated balance is recalculated. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
