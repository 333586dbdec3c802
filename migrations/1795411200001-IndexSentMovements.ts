import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  payment_provider_reference_index: `"payment" ("provider_reference") WHERE "provider_reference" IS NOT NULL`,
  payment_sent_index: `"payment" ("provider", "sent_at", "id") WHERE "status" = 'succeeded'`,
  refund_provider_reference_index: `"refund" ("provider_reference") WHERE "provider_reference" IS NOT NULL`,
  refund_created_index: `"refund" ("created_at", "id") WHERE "status" = 'succeeded'`,
};

/** Indexes payments and refunds by the ids that providers gave them, and by the time at which they were sent. */
export class IndexSentMovements1795411200001 implements MigrationInterface {
  readonly name = 'IndexSentMovements1795411200001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, columns] of Object.entries(INDEXES)) {
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
      await queryRunner.query(`CREATE INDEX CONCURRENTLY "${name}" ON ${columns}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await queryRunner.query(`DROP INDEX "${name}"`);
  }
}
