import type { MigrationInterface, QueryRunner } from 'typeorm';

const BATCH = 5_000;

/** Fills one batch of refunds. Each batch is a commit. If a request changes a refund meanwhile, the trigger fills it. */
const FILL = `
  WITH batch AS (
    SELECT "id", "payment_id" FROM "refund" WHERE "id" > $1 ORDER BY "id" LIMIT ${BATCH}
  ), filled AS (
    UPDATE "refund" SET "customer_id" = "payment"."customer_id"
    FROM batch JOIN "payment" ON "payment"."id" = batch."payment_id"
    WHERE "refund"."id" = batch."id" AND "refund"."customer_id" IS NULL
  )
  SELECT max("id") AS last FROM batch`;

/** Gives stored refunds the customer of their payment. */
export class FillCustomerOfRefunds1795411715001 implements MigrationInterface {
  readonly name = 'FillCustomerOfRefunds1795411715001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    let last: string | null | undefined = '';
    while (typeof last === 'string') {
      const [row] = (await queryRunner.query(FILL, [last])) as { last: string | null }[];
      last = row?.last;
    }
  }

  /** Does nothing: the column is dropped by the migration that added it. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
