import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Increments the version of a stream also when a row of `usage_window` for it is deleted, not only when one is
 * inserted. The statement that stores events reads these windows before it locks the stream. If a window was closed in
 * between, the changed version shows it.
 */
export class NumberStreamsOfClosedWindows1795460000002 implements MigrationInterface {
  readonly name = 'NumberStreamsOfClosedWindows1795460000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION "usage_window_outdate_streams_of_closed"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE usage_stream SET version = version + 1 WHERE id IN (
          SELECT id FROM usage_stream WHERE id IN (SELECT stream_id FROM closed) ORDER BY id FOR UPDATE
        );
        RETURN NULL;
      END
      $$
    `);
    await queryRunner.query(`
      CREATE TRIGGER "usage_window_outdate_streams_of_closed" AFTER DELETE ON "usage_window"
      REFERENCING OLD TABLE AS closed
      FOR EACH STATEMENT EXECUTE FUNCTION "usage_window_outdate_streams_of_closed"()
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'DROP TRIGGER "usage_window_outdate_streams_of_closed" ON "usage_window"',
    );
    await queryRunner.query('DROP FUNCTION "usage_window_outdate_streams_of_closed"');
  }
}
