import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables whose changes make the cached state of streams invalid, each with the column that names the streams. */
const FOLLOWED = [
  ['usage_billed', 'stream_id', 'id'],
  ['usage_window', 'stream_id', 'id'],
  ['meter', 'event_name', 'event_name'],
] as const;

/** Adds a version to each row of `usage_stream`. Cached state of the stream is valid only for this version. */
export class NumberStreamVersions1795380000001 implements MigrationInterface {
  readonly name = 'NumberStreamVersions1795380000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "usage_stream" ADD "version" bigint NOT NULL DEFAULT '0'
    `);
    for (const [table, column, streamColumn] of FOLLOWED) {
      await queryRunner.query(`
        CREATE FUNCTION "${table}_outdate_streams"() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          UPDATE usage_stream SET version = version + 1 WHERE id IN (
            SELECT id FROM usage_stream WHERE ${streamColumn} IN (SELECT ${column} FROM added) ORDER BY id FOR UPDATE
          );
          RETURN NULL;
        END
        $$
      `);
      await queryRunner.query(`
        CREATE TRIGGER "${table}_outdate_streams" AFTER INSERT ON "${table}"
        REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION "${table}_outdate_streams"()
      `);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [table] of FOLLOWED) {
      await queryRunner.query(`DROP TRIGGER "${table}_outdate_streams" ON "${table}"`);
      await queryRunner.query(`DROP FUNCTION "${table}_outdate_streams"`);
    }
    await queryRunner.query('ALTER TABLE "usage_stream" DROP COLUMN "version"');
  }
}
