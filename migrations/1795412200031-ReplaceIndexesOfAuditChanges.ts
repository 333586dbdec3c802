import type { MigrationInterface, QueryRunner } from 'typeorm';

const BUILT = `
  SELECT inhrelid::regclass::text AS name FROM pg_inherits
  WHERE inhparent = 'audit_change'::regclass AND to_regclass(inhrelid::regclass::text || '_position_key') IS NOT NULL
  ORDER BY 1`;

/**
 * Puts the new indexes of the partitions of `audit_change` in the place of the former ones. Builds indexes only for
 * partitions that the previous release has created meanwhile. These are for future months, so they are empty.
 */
export class ReplaceIndexesOfAuditChanges1795412200031 implements MigrationInterface {
  readonly name = 'ReplaceIndexesOfAuditChanges1795412200031';

  async up(queryRunner: QueryRunner): Promise<void> {
    const built = (await queryRunner.query(BUILT)) as readonly { readonly name: string }[];
    await queryRunner.query('ALTER TABLE "audit_change" DROP CONSTRAINT "audit_change_pkey"');
    for (const { name } of built) {
      await queryRunner.query(
        `ALTER TABLE "${name}" ADD CONSTRAINT "${name}_pkey" PRIMARY KEY USING INDEX "${name}_position_key"`,
      );
    }
    await queryRunner.query(`
      -- Takes over the keys of the partitions.
      -- squawk-ignore adding-serial-primary-key-field, constraint-missing-not-valid
      ALTER TABLE "audit_change" ADD CONSTRAINT "audit_change_pkey" PRIMARY KEY ("position", "created_at")
    `);
    for (const index of ['audit_change_position_index', 'audit_change_object_index']) {
      await queryRunner.query(`
        -- An index of a partitioned table cannot be dropped concurrently.
        -- squawk-ignore require-concurrent-index-deletion
        DROP INDEX "${index}"
      `);
    }
    for (const [index, column] of [
      ['audit_change_entry_index', 'entry_id'],
      ['audit_change_object_index', 'object_id'],
    ]) {
      await queryRunner.query(`
        -- Takes over the indexes of the partitions.
        -- squawk-ignore require-concurrent-index-creation
        CREATE INDEX "${index}" ON "audit_change" ("${column}")
      `);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "audit_change_object_index"');
    await queryRunner.query('DROP INDEX "audit_change_entry_index"');
    await queryRunner.query('ALTER TABLE "audit_change" DROP CONSTRAINT "audit_change_pkey"');
    await queryRunner.query(`
      ALTER TABLE "audit_change" ADD CONSTRAINT "audit_change_pkey" PRIMARY KEY ("entry_id", "position", "created_at")
    `);
    await queryRunner.query(
      'CREATE INDEX "audit_change_position_index" ON "audit_change" ("position")',
    );
    await queryRunner.query(
      'CREATE INDEX "audit_change_object_index" ON "audit_change" ("object_id", "entry_id")',
    );
  }
}
