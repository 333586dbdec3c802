import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keeps the last number of objects whose events are deleted after their retention. */
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
