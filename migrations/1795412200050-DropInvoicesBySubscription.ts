import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Drops an index that is not needed, because `invoice_renewal_unique` starts with the same column. The previous release
 * then sorts the invoices of a subscription, which are few.
 */
export class DropInvoicesBySubscription1795412200050 implements MigrationInterface {
  readonly name = 'DropInvoicesBySubscription1795412200050';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "invoice_subscription_time_index"');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'CREATE INDEX "invoice_subscription_time_index" ON "invoice" ("subscription_id", left("id", 13))',
    );
  }
}
