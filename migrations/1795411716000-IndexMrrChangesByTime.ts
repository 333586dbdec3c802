import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = ['customer', 'currency', 'kind'] as const;
const columnOf = (name: string): string => (name === 'customer' ? 'customer_id' : name);

/** Adds indexes that give the changes of recurring revenue in the order of their times, with each filter. */
export class IndexMrrChangesByTime1795411716000 implements MigrationInterface {
  readonly name = 'IndexMrrChangesByTime1795411716000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const name of COLUMNS) {
      const index = `mrr_change_${name}_changed_index`;
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index}"`);
      await queryRunner.query(
        `CREATE INDEX CONCURRENTLY "${index}" ON "mrr_change" ("${columnOf(name)}", "changed_at", "id")`,
      );
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "mrr_change_${name}_index"`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of COLUMNS) {
      await queryRunner.query(
        `CREATE INDEX "mrr_change_${name}_index" ON "mrr_change" ("${columnOf(name)}", "id")`,
      );
      await queryRunner.query(`DROP INDEX "mrr_change_${name}_changed_index"`);
    }
  }
}
