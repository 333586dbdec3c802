import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Request counts that all processes share. The table is unlogged: if the counts are lost, limits are inexact for a
 * minute.
 */
export class CreateRateLimitCounts1795410250002 implements MigrationInterface {
  readonly name = 'CreateRateLimitCounts1795410250002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE UNLOGGED TABLE "rate_limit_count" (
        "window_start" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "bucket" character varying(120) COLLATE "C" NOT NULL,
        "request_count" bigint NOT NULL,
        CONSTRAINT "rate_limit_count_pkey" PRIMARY KEY ("window_start", "bucket")
      )
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "rate_limit_count"');
  }
}
