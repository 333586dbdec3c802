import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Makes transactions unique by source, kind and version, instead of by source and kind. The previous release writes
 * version zero, so for that release a source still posts each kind only once.
 */
export class ReplaceSourcesOfTransactions1795590000002 implements MigrationInterface {
  readonly name = 'ReplaceSourcesOfTransactions1795590000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "ledger_transaction" DROP CONSTRAINT "ledger_transaction_source_unique",
        ADD CONSTRAINT "ledger_transaction_source_unique" UNIQUE USING INDEX "ledger_transaction_source_version_index"
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "ledger_transaction" DROP CONSTRAINT "ledger_transaction_source_unique"',
    );
    await queryRunner.query(`
      ALTER TABLE "ledger_transaction" ADD CONSTRAINT "ledger_transaction_source_unique" UNIQUE ("source_id", "kind")
    `);
  }
}
