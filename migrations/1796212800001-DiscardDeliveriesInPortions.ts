import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the id up to which pending deliveries to an endpoint are being discarded. The previous release ignores the
 * column, and discards all of them at once.
 */
export class DiscardDeliveriesInPortions1796212800001 implements MigrationInterface {
  readonly name = 'DiscardDeliveriesInPortions1796212800001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET LOCAL lock_timeout = 1000');
    await queryRunner.query(
      'ALTER TABLE "webhook_endpoint" ADD COLUMN "discard_to" character varying(30)',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET LOCAL lock_timeout = 1000');
    await queryRunner.query('ALTER TABLE "webhook_endpoint" DROP COLUMN "discard_to"');
  }
}
