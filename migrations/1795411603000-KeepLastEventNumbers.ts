import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keeps the number of the last event of an object when its events are deleted at the end of their retention. */
export class KeepLastEventNumbers1795411603000 implements MigrationInterface {
  readonly name = 'KeepLastEventNumbers1795411603000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "event_sequence" (
        "object_id" character varying(40) COLLATE "C" NOT NULL,
        "sequence" integer NOT NULL,
        CONSTRAINT "event_sequence_pkey" PRIMARY KEY ("object_id"),
        CONSTRAINT "event_sequence_check" CHECK ("sequence" > 0)
      )
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "event_sequence"');
  }
}
