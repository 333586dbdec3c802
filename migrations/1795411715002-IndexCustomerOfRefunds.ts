import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes refunds by customer, and validates the new checks. Writers are not blocked. */
export class IndexCustomerOfRefunds1795411715002 implements MigrationInterface {
  readonly name = 'IndexCustomerOfRefunds1795411715002';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const check of ['refund_customer_check', 'refund_customer_id_fkey']) {
      await queryRunner.query(`ALTER TABLE "refund" VALIDATE CONSTRAINT "${check}"`);
    }
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "refund_customer_index"');
    await queryRunner.query(
      'CREATE INDEX CONCURRENTLY "refund_customer_index" ON "refund" ("customer_id", "id")',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "refund_customer_index"');
  }
}
