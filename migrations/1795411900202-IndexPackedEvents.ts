import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes events by pack. A pack is deleted when its last event is deleted. */
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
