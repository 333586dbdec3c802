import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets a reconciliation find the refunds that were sent in a period. For customers on a test clock, the creation time
 * is that of the clock, so the sending time is used. Former releases stored none: they sent refunds when they created
 * them.
 */
export class IndexRefundsBySentTime1795490000000 implements MigrationInterface {
  readonly name = 'IndexRefundsBySentTime1795490000000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "refund_sent_index"');
    await queryRunner.query(`
      CREATE INDEX CONCURRENTLY "refund_sent_index" ON "refund" ((coalesce("sent_at", "created_at")), "id")
      WHERE "status" = 'succeeded'
    `);
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "refund_created_index"');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX IF NOT EXISTS "refund_created_index" ON "refund" ("created_at", "id") WHERE "status" = 'succeeded'
    `);
    await queryRunner.query('DROP INDEX "refund_sent_index"');
  }
}
