import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores with an archived month which of its hours have events. Until now, such hours were found by their count of
 * accepted events, to which every commit of ingest added. The previous release still adds to it.
 */
export class RecordHoursOfArchivedMonths1795460000000 implements MigrationInterface {
  readonly name = 'RecordHoursOfArchivedMonths1795460000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "usage_archive_month" ADD "hours" smallint array');
    await queryRunner.query("ALTER TABLE usage_tally ALTER COLUMN accepted SET DEFAULT '0'");
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "usage_tally" ALTER COLUMN "accepted" DROP DEFAULT');
    await queryRunner.query('ALTER TABLE "usage_archive_month" DROP COLUMN "hours"');
  }
}
