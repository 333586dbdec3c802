import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores the buyer and seller of an invoice as they were when it was finalized. They are null for older invoices. */
export class KeepPartiesOfInvoices1795300000005 implements MigrationInterface {
  readonly name = 'KeepPartiesOfInvoices1795300000005';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "invoice" ADD "parties" jsonb');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "invoice" DROP COLUMN "parties"');
  }
}
