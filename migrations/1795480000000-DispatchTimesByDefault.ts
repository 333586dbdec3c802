import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets this release insert events without `dispatched_at`. The default is needed because the previous release would
 * dispatch events for which the column is null.
 */
export class DispatchTimesByDefault1795480000000 implements MigrationInterface {
  readonly name = 'DispatchTimesByDefault1795480000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "event" ALTER COLUMN "dispatched_at" SET DEFAULT now()');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "event" ALTER COLUMN "dispatched_at" DROP DEFAULT');
  }
}
