import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the events of a pack, which is deleted with the last of them. */
export class IndexPackedEvents1795411900202 implements MigrationInterface {
  readonly name = 'IndexPackedEvents1795411900202';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "event_pack_index"');
    await queryRunner.query(`
      CREATE INDEX CONCURRENTLY "event_pack_index" ON "event" ("pack_id") WHERE "pack_id" IS NOT NULL
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "event_pack_index"');
  }
}
