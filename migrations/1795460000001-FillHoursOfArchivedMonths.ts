import type { MigrationInterface, QueryRunner } from 'typeorm';

const BATCH = 2_000;

/** Fills one batch of months. Each batch is a commit. */
const FILL = `
  WITH batch AS (
    SELECT "stream_id", "start_at", "end_at" FROM "usage_archive_month"
    WHERE ("stream_id", "start_at") > ($1, $2)
    ORDER BY "stream_id", "start_at" LIMIT ${BATCH}
  ), filled AS (
    UPDATE "usage_archive_month" AS month SET "hours" = ARRAY(
      SELECT floor(extract(epoch FROM "hour" - batch."start_at") / 3600)::smallint FROM "usage_tally"
      WHERE "usage_tally"."stream_id" = batch."stream_id" AND "accepted" > 0
        AND "hour" >= batch."start_at" AND "hour" < batch."end_at"
      ORDER BY 1
    )
    FROM batch
    WHERE month."stream_id" = batch."stream_id" AND month."start_at" = batch."start_at"
      AND month."written_at" IS NOT NULL AND month."hours" IS NULL
  )
  SELECT "stream_id", "start_at"::text FROM batch ORDER BY "stream_id" DESC, "start_at" DESC LIMIT 1`;

interface LastMonth {
  readonly stream_id: string;
  readonly start_at: string;
}

/** Fills in which hours have events, for months that are already archived. */
export class FillHoursOfArchivedMonths1795460000001 implements MigrationInterface {
  readonly name = 'FillHoursOfArchivedMonths1795460000001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    let last: LastMonth | undefined = { stream_id: '0', start_at: '-infinity' };
    while (last !== undefined) {
      const parameters: readonly string[] = [last.stream_id, last.start_at];
      [last] = (await queryRunner.query(FILL, [...parameters])) as LastMonth[];
    }
  }

  /** Does nothing: the column is dropped by the migration that added it. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
