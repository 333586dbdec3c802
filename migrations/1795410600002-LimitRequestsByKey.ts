import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets an API key have its own rate limits. Null means the limits of the configuration. */
export class LimitRequestsByKey1795410600002 implements MigrationInterface {
  readonly name = 'LimitRequestsByKey1795410600002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "api_key"
      ADD COLUMN "requests_per_minute" integer,
      ADD COLUMN "usage_requests_per_minute" integer
    `);
    await queryRunner.query(`
      ALTER TABLE "api_key" ADD CONSTRAINT "api_key_limits_check"
      CHECK ("requests_per_minute" > 0 AND "usage_requests_per_minute" > 0)
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "api_key"
      DROP COLUMN "requests_per_minute",
      DROP COLUMN "usage_requests_per_minute"
    `);
  }
}
