import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Queues one batch of events. Each batch is a commit. Skips events that the previous release has locked to dispatch
 * them.
 */
const QUEUE = `
  WITH batch AS (
    SELECT "id", "type", "object_id", "sequence", "occurred_at" FROM "event" WHERE "dispatched_at" IS NULL
    ORDER BY "id" LIMIT 1000 FOR UPDATE SKIP LOCKED
  ), marked AS (
    UPDATE "event" SET "dispatched_at" = now() FROM batch WHERE "event"."id" = batch."id"
  )
  INSERT INTO "event_dispatch" ("event_id", "type", "object_id", "sequence", "occurred_at")
  SELECT * FROM batch RETURNING "event_id"`;

/**
 * Queues events that an earlier release recorded without a row in `event_dispatch` and has not dispatched. From this
 * release on, only that table is read.
 */
export class QueueMarkedEvents1795480000001 implements MigrationInterface {
  readonly name = 'QueueMarkedEvents1795480000001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    let queued: readonly unknown[];
    do {
      queued = (await queryRunner.query(QUEUE)) as readonly unknown[];
    } while (queued.length > 0);
  }

  /** Does nothing: the earlier release finds events in both places. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
