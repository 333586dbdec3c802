import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Verifies the limit of the previous migration, and builds the key that a partition needs, while processes continue to
 * work.
 */
export class VerifyWebhookAttempts1795411400011 implements MigrationInterface {
  readonly name = 'VerifyWebhookAttempts1795411400011';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "webhook_attempt" VALIDATE CONSTRAINT "webhook_attempt_before_check"',
    );
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "webhook_attempt_before_key"');
    await queryRunner.query(`
      CREATE UNIQUE INDEX CONCURRENTLY "webhook_attempt_before_key"
      ON "webhook_attempt" ("delivery_id", "number", "started_at")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX IF EXISTS "webhook_attempt_before_key"');
  }
}
