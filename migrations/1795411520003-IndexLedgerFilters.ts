import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  ledger_transaction_currency_index: '"ledger_transaction" ("currency", "id")',
  ledger_transaction_kind_index: '"ledger_transaction" ("kind", "id")',
  ledger_transaction_occurred_index: '"ledger_transaction" ("occurred_at", "id")',
};

/**
 * Adds an index for each filter of the list of ledger transactions. Reports read the transactions of a period from one
 * of them.
 */
export class IndexLedgerFilters1795411520003 implements MigrationInterface {
  readonly name = 'IndexLedgerFilters1795411520003';
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
