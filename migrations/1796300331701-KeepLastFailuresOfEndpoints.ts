import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the time of an endpoint's last failure. The previous release does not set it: then the time of the first failure
 * counts.
 */
export class KeepLastFailuresOfEndpoints1796300331701 implements MigrationInterface {
  readonly name = 'KeepLastFailuresOfEndpoints1796300331701';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET LOCAL lock_timeout = 1000');
    await queryRunner.query(
      'ALTER TABLE "webhook_failure" ADD COLUMN "last_at" TIMESTAMP(3) WITH TIME ZONE',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET LOCAL lock_timeout = 1000');
    await queryRunner.query('ALTER TABLE "webhook_failure" DROP COLUMN "last_at"');
  }
}
