import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Records which hours of an archived month have events with the month itself. Until now they were found by the number of accepted
 * events of each hour, which every commit of ingest added to. The previous release goes on to do so.
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
