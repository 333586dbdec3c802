import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  payment_method_due_index: '"payment_method" ("due_at") WHERE "due_at" IS NOT NULL',
  payment_method_leased_by_index: '"payment_method" ("leased_by") WHERE "leased_by" IS NOT NULL',
};

/** Indexes the payment methods that must be detached, and those whose process died while it detached them. */
export class IndexDueDetachments1795411601021 implements MigrationInterface {
  readonly name = 'IndexDueDetachments1795411601021';
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
