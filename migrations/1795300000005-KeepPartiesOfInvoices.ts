import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Buyer and seller of an invoice as they were when it was finalized; of those from before, nobody knows. */
export class KeepPartiesOfInvoices1795300000005 implements MigrationInterface {
  readonly name = 'KeepPartiesOfInvoices1795300000005';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "invoice" ADD "parties" jsonb');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "invoice" DROP COLUMN "parties"');
  }
}
