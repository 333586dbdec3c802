import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEX = 'ledger_posting_account_index';

/**
 * Indexes postings to rare accounts, such as credit of customers, so that their transactions are found. The other
 * accounts need no index: most transactions post to them, so reading the newest transactions finds enough.
 */
export class IndexPostingsByAccount1795411790000 implements MigrationInterface {
  readonly name = 'IndexPostingsByAccount1795411790000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${INDEX}"`);
    await queryRunner.query(
      `CREATE INDEX CONCURRENTLY "${INDEX}" ON "ledger_posting" ("account", "transaction_id")
       WHERE "account" <> 'accounts_receivable' AND "account" <> 'revenue' AND "account" <> 'deferred_revenue'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX "${INDEX}"`);
  }
}
