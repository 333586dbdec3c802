import type { MigrationInterface, QueryRunner } from 'typeorm';

const BATCH = 5_000;

/** Makes one batch of subscriptions pending. Each batch is a commit. */
const QUEUE = `
  WITH batch AS (
    SELECT "id", "test_clock_id" FROM "subscription" WHERE "id" > $1 ORDER BY "id" LIMIT ${BATCH}
  ), queued AS (
    INSERT INTO "mrr_pending" SELECT "id" FROM batch WHERE "test_clock_id" IS NULL ON CONFLICT DO NOTHING
  )
  SELECT max("id") AS last FROM batch`;

/** Makes all existing subscriptions pending, so that the service records their recurring revenue by its own rules. */
export class QueueSubscriptionsForMrr1795411520002 implements MigrationInterface {
  readonly name = 'QueueSubscriptionsForMrr1795411520002';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    let last: string | null | undefined = '';
    while (typeof last === 'string') {
      const [row] = (await queryRunner.query(QUEUE, [last])) as { last: string | null }[];
      last = row?.last;
    }
  }

  /** Does nothing: the pending rows are dropped with their table. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
