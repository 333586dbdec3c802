import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores the progress of the archive of usage events, and the keys of archived events. */
export class ArchiveUsage1795411800001 implements MigrationInterface {
  readonly name = 'ArchiveUsage1795411800001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "usage_stream" ADD "closed_before" TIMESTAMP(3) WITH TIME ZONE',
    );
    await queryRunner.query(
      'ALTER TABLE "meter" ADD "counted_from_at" TIMESTAMP(3) WITH TIME ZONE',
    );
    await queryRunner.query(`
      CREATE TABLE "usage_archived_key" (
        "key_digest" uuid NOT NULL,
        CONSTRAINT "usage_archived_key_pkey" PRIMARY KEY ("key_digest")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "usage_archive_file" (
        "month" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "number" integer NOT NULL,
        "name" character varying(100) COLLATE "C" NOT NULL,
        "events" integer NOT NULL,
        "bytes" bigint NOT NULL,
        "sha256" character(64) COLLATE "C" NOT NULL,
        "written_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "verified_at" TIMESTAMP(3) WITH TIME ZONE,
        CONSTRAINT "usage_archive_file_pkey" PRIMARY KEY ("month", "number"),
        CONSTRAINT "usage_archive_file_check" CHECK ("number" > 0 AND "events" > 0 AND "bytes" > 0)
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "usage_archive_month" (
        "stream_id" bigint NOT NULL,
        "start_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "end_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "first_file" integer NOT NULL,
        "last_file" integer,
        "events" bigint,
        "voided" bigint,
        "digest" character(64) COLLATE "C",
        "written_at" TIMESTAMP(3) WITH TIME ZONE,
        "removed_at" TIMESTAMP(3) WITH TIME ZONE,
        CONSTRAINT "usage_archive_month_pkey" PRIMARY KEY ("stream_id", "start_at"),
        CONSTRAINT "usage_archive_month_written_check" CHECK (
          num_nulls("last_file", "events", "voided", "digest", "written_at") IN (0, 5)),
        CONSTRAINT "usage_archive_month_removed_check" CHECK ("removed_at" IS NULL OR "written_at" IS NOT NULL)
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "usage_archive_month_stored_index" ON "usage_archive_month" ("written_at")
      WHERE "removed_at" IS NULL AND "written_at" IS NOT NULL
    `);
    await queryRunner.query(`
      CREATE TABLE "usage_archive_progress" (
        "id" smallint NOT NULL,
        "before_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "month" TIMESTAMP(3) WITH TIME ZONE,
        "next_stream_id" bigint NOT NULL,
        "next_month" TIMESTAMP(3) WITH TIME ZONE,
        "streams" bigint array NOT NULL,
        "file_number" integer NOT NULL,
        "after_at" TIMESTAMP(3) WITH TIME ZONE,
        "after_key" character varying(255) COLLATE "C",
        "ended_at" TIMESTAMP(3) WITH TIME ZONE,
        "kept_from_at" TIMESTAMP(3) WITH TIME ZONE,
        CONSTRAINT "usage_archive_progress_pkey" PRIMARY KEY ("id"),
        CONSTRAINT "usage_archive_progress_check" CHECK (
          "id" = 1 AND ("after_at" IS NULL) = ("after_key" IS NULL) AND ("month" IS NOT NULL OR "streams" = '{}'))
      )
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of [
      'usage_archive_progress',
      'usage_archive_month',
      'usage_archive_file',
      'usage_archived_key',
    ]) {
      await queryRunner.query(`DROP TABLE "${table}"`);
    }
    await queryRunner.query('ALTER TABLE "meter" DROP COLUMN "counted_from_at"');
    await queryRunner.query('ALTER TABLE "usage_stream" DROP COLUMN "closed_before"');
  }
}
