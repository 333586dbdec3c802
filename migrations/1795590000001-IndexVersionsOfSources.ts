import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Builds the unique index by source, kind and version. The next migration makes it the constraint, instead of source
 * and kind.
 */
export class IndexVersionsOfSources1795590000001 implements MigrationInterface {
  readonly name = 'IndexVersionsOfSources1795590000001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'DROP INDEX CONCURRENTLY IF EXISTS "ledger_transaction_source_version_index"',
    );
    await queryRunner.query(`
      CREATE UNIQUE INDEX CONCURRENTLY "ledger_transaction_source_version_index"
      ON "ledger_transaction" ("source_id", "kind", "source_version")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX IF EXISTS "ledger_transaction_source_version_index"');
  }
}
