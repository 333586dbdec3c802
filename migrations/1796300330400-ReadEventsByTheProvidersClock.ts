import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the provider's time up to which its events are stored, and its time at which the unfinished listing began. The
 * previous release ignores both columns, so that the next listing of this release begins earlier.
 */
export class ReadEventsByTheProvidersClock1796300330400 implements MigrationInterface {
  readonly name = 'ReadEventsByTheProvidersClock1796300330400';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET LOCAL lock_timeout = 1000');
    await queryRunner.query(
      `ALTER TABLE "provider_cursor"
        ADD COLUMN "provider_read_until" TIMESTAMP(3) WITH TIME ZONE,
        ADD COLUMN "provider_listing_at" TIMESTAMP(3) WITH TIME ZONE`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET LOCAL lock_timeout = 1000');
    await queryRunner.query(
      `ALTER TABLE "provider_cursor"
        DROP COLUMN "provider_read_until", DROP COLUMN "provider_listing_at"`,
    );
  }
}
