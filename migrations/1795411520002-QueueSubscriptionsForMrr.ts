import type { MigrationInterface, QueryRunner } from 'typeorm';

const BATCH = 5_000;

/** Each batch commits alone. The service then records the subscriptions with its own rules. */
const QUEUE = `
  WITH batch AS (
    SELECT "id", "test_clock_id" FROM "subscription" WHERE "id" > $1 ORDER BY "id" LIMIT ${BATCH}
  ), queued AS (
    INSERT INTO "mrr_pending" SELECT "id" FROM batch WHERE "test_clock_id" IS NULL ON CONFLICT DO NOTHING
  )
  SELECT max("id") AS last FROM batch`;

/** Makes the subscriptions that exist already pending, so that their recurring revenue is recorded. */
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

  /** The queue goes with its table. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
