import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEX = 'ledger_posting_account_index';

/**
 * Lets a list of transactions find those that post to a rare account, such as credit of customers. Those of the accounts left
 * out are in most transactions, and are found by reading the newest ones.
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
