import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets a reconciliation find the refunds that were sent in a period. The creation time does not tell it, because it is
 * the time of the test clock for customers on one. Refunds without a sending time, of former releases, were sent when
 * created.
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
