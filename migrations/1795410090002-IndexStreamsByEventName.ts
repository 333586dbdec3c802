import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes the streams of an event name in the order in which a backfill counts them. */
export class IndexStreamsByEventName1795410090002 implements MigrationInterface {
  readonly name = 'IndexStreamsByEventName1795410090002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX "usage_stream_event_name_index" ON "usage_stream" ("event_name", "id")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "usage_stream_event_name_index"');
  }
}
