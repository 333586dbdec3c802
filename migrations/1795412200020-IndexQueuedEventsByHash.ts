import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Indexes queued events by a hash of the id of their object, which makes the entries a quarter as large. The index need
 * not be unique, because `event` already has unique numbers for each object. The previous release does not read the
 * queue.
 */
export class IndexQueuedEventsByHash1795412200020 implements MigrationInterface {
  readonly name = 'IndexQueuedEventsByHash1795412200020';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "event_dispatch_object_hash_index"');
    await queryRunner.query(`
      CREATE INDEX CONCURRENTLY "event_dispatch_object_hash_index" ON "event_dispatch" (hashtext("object_id"), "sequence")
    `);
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "event_dispatch_object_unique"');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE UNIQUE INDEX "event_dispatch_object_unique" ON "event_dispatch" ("object_id", "sequence")
    `);
    await queryRunner.query('DROP INDEX "event_dispatch_object_hash_index"');
  }
}
