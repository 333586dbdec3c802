import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Makes transactions unique by source, kind and version of the source. The previous release writes the version zero, so that each of
 * its sources still posts each kind once.
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
