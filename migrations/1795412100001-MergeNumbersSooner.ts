import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Limits the pending entries of the search index of invoices to 256 kB instead of 4 MB, because pending entries need
 * more space than merged ones.
 */
export class MergeNumbersSooner1795412100001 implements MigrationInterface {
  readonly name = 'MergeNumbersSooner1795412100001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER INDEX "invoice_text_index" SET (gin_pending_list_limit = 256)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER INDEX "invoice_text_index" RESET (gin_pending_list_limit)');
  }
}
