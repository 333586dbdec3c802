import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds to the trace of each usage line the instant from which events were counted. This is the start of the period, or
 * an earlier instant if the stored bill shows that a value carried over into the period.
 */
export class TellSinceWhenLinesCount1795410000001 implements MigrationInterface {
  readonly name = 'TellSinceWhenLinesCount1795410000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE "invoice_line" SET
        "trace" = "trace" || jsonb_build_object('countedFrom', "trace" #> '{period,startAt}')
      WHERE "trace" ->> 'kind' = 'usage'
    `);
    await queryRunner.query(`
      UPDATE "invoice_line" AS line SET
        "trace" = line.trace || jsonb_build_object('countedFrom', jsonb_build_object('$instant',
          to_char(billed.counted_from_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
      FROM (
        SELECT item_id, period_start_at, period_end_at, min(counted_from_at) AS counted_from_at
        FROM "usage_billed" GROUP BY item_id, period_start_at, period_end_at
      ) AS billed
      WHERE line.trace ->> 'kind' = 'usage' AND billed.item_id = line.item_id
        AND billed.period_start_at = line.period_start_at AND billed.period_end_at = line.period_end_at
        AND billed.counted_from_at < billed.period_start_at
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE "invoice_line" SET "trace" = "trace" - 'countedFrom' WHERE "trace" ->> 'kind' = 'usage'
    `);
  }
}
