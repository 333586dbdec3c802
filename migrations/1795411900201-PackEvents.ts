import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets the data of several events of one commit be stored in one row, a pack. Existing events do not change. */
export class PackEvents1795411900201 implements MigrationInterface {
  readonly name = 'PackEvents1795411900201';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SEQUENCE "event_pack_id"');
    await queryRunner.query(`
      CREATE TABLE "event_pack" (
        "id" bigint NOT NULL,
        "data" json array NOT NULL,
        CONSTRAINT "event_pack_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query('ALTER TABLE "event" ADD "pack_id" bigint');
    await queryRunner.query('ALTER TABLE "event" ADD "pack_place" smallint');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE "event" SET "data" = "pack"."data"["pack_place"]
      FROM "event_pack" AS "pack" WHERE "pack"."id" = "pack_id"
    `);
    await queryRunner.query('ALTER TABLE "event" DROP "pack_place"');
    await queryRunner.query('ALTER TABLE "event" DROP "pack_id"');
    await queryRunner.query('DROP TABLE "event_pack"');
    await queryRunner.query('DROP SEQUENCE "event_pack_id"');
  }
}
