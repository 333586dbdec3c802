import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets a new meter count stored events in steps, while other events are ingested. Each step changes the version of the
 * streams that it counts. The trigger that changed all of them when a meter was created is not needed any more.
 */
export class BackfillMeters1795410090001 implements MigrationInterface {
  readonly name = 'BackfillMeters1795410090001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "meter"
      ADD "status" character varying(20) NOT NULL DEFAULT 'active',
      ADD "backfill_counted" bigint NOT NULL DEFAULT '0',
      ADD "backfill_total" bigint NOT NULL DEFAULT '0',
      ADD CONSTRAINT "meter_status_check" CHECK ("status" IN ('backfilling', 'active'))
    `);
    await queryRunner.query(`
      CREATE TABLE "meter_backfill" (
          "meter_id" character varying(40) COLLATE "C" NOT NULL,
          "older_transactions" text array,
          "last_stream_id" bigint,
          "next_stream_id" bigint NOT NULL,
          "next_hour" TIMESTAMP(3) WITH TIME ZONE,
          "steps" integer NOT NULL,
          CONSTRAINT "meter_backfill_last_stream_check" CHECK (
              "last_stream_id" IS NULL OR "older_transactions" IS NOT NULL
          ),
          CONSTRAINT "meter_backfill_pkey" PRIMARY KEY ("meter_id"),
          CONSTRAINT "meter_backfill_meter_id_fkey" FOREIGN KEY ("meter_id") REFERENCES "meter" ("id")
      )
    `);
    await queryRunner.query('DROP TRIGGER "meter_outdate_streams" ON "meter"');
    await queryRunner.query('DROP FUNCTION "meter_outdate_streams"');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION "meter_outdate_streams"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE usage_stream SET version = version + 1 WHERE id IN (
          SELECT id FROM usage_stream WHERE event_name IN (SELECT event_name FROM added) ORDER BY id FOR UPDATE
        );
        RETURN NULL;
      END
      $$
    `);
    await queryRunner.query(`
      CREATE TRIGGER "meter_outdate_streams" AFTER INSERT ON "meter"
      REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION "meter_outdate_streams"()
    `);
    await queryRunner.query('DROP TABLE "meter_backfill"');
    await queryRunner.query(`
      ALTER TABLE "meter" DROP COLUMN "status", DROP COLUMN "backfill_counted", DROP COLUMN "backfill_total"
    `);
  }
}
