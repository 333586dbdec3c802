import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A weighted sum now keeps its value within a whole billing period. Usage that was billed or requested before keeps the
 * former rule: for a meter that is not recurring, the value starts at zero in each part of a period.
 */
export class HoldWithinBillingPeriods1795390000001 implements MigrationInterface {
  readonly name = 'HoldWithinBillingPeriods1795390000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "usage_billed" ADD "counted_from_at" TIMESTAMP(3) WITH TIME ZONE
    `);
    await queryRunner.query(`
      UPDATE "usage_billed" AS billed SET
        "counted_from_at" = CASE WHEN meter.is_recurring THEN '0001-01-01T00:00:00Z' ELSE billed.period_start_at END,
        "terms" = billed.terms || jsonb_build_object('heldSince', billed.terms #> '{period,startAt}')
      FROM "meter" WHERE meter.id = billed.meter_id
    `);
    await queryRunner.query(`
      ALTER TABLE "usage_billed" ALTER COLUMN "counted_from_at" SET NOT NULL
    `);
    await queryRunner.query(`
      UPDATE "invoice" SET "ordered_lines" = (
        SELECT jsonb_agg(
          CASE WHEN line ->> 'kind' = 'usage'
            THEN line || jsonb_build_object('heldSince', line #> '{period,startAt}') ELSE line END
          ORDER BY place
        )
        FROM jsonb_array_elements("ordered_lines") WITH ORDINALITY AS one(line, place)
      )
      WHERE "ordered_lines" @> '[{"kind": "usage"}]'
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "usage_billed" DROP COLUMN "counted_from_at"');
  }
}
