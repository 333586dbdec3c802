import type { MigrationInterface, QueryRunner } from 'typeorm';

const PARTITIONS = `
  SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'audit_change'::regclass ORDER BY 1`;

/**
 * Builds smaller indexes for the partitions of `audit_change`. The next migration puts them in the place of the former
 * indexes. Changes of the same entry or the same object have equal index entries, and an index stores such entries
 * once.
 */
export class IndexAuditChanges1795412200030 implements MigrationInterface {
  readonly name = 'IndexAuditChanges1795412200030';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    const partitions = (await queryRunner.query(PARTITIONS)) as readonly {
      readonly name: string;
    }[];
    for (const { name } of partitions) {
      const build = async (kind: string, index: string, columns: string): Promise<void> => {
        await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index}"`);
        await queryRunner.query(`CREATE ${kind} CONCURRENTLY "${index}" ON "${name}" (${columns})`);
      };
      await build('UNIQUE INDEX', `${name}_position_key`, '"position", "created_at"');
      await build('INDEX', `${name}_entry_index`, '"entry_id"');
      await build('INDEX', `${name}_object_index`, '"object_id"');
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const partitions = (await queryRunner.query(PARTITIONS)) as readonly {
      readonly name: string;
    }[];
    for (const { name } of partitions) {
      for (const index of ['position_key', 'entry_index', 'object_index'])
        await queryRunner.query(`DROP INDEX IF EXISTS "${name}_${index}"`);
    }
  }
}
