import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets the recognition of the revenue of a line be recorded in a table of its own, without an update of the line. Lines
 * that are already marked keep their mark.
 */
export class ReleaseLinesApart1795412100000 implements MigrationInterface {
  readonly name = 'ReleaseLinesApart1795412100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "released_line" (
        "line_id" character varying(40) COLLATE "C" NOT NULL,
        CONSTRAINT "released_line_pkey" PRIMARY KEY ("line_id")
      )
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE "invoice_line" SET "is_released" = true WHERE "id" IN (SELECT "line_id" FROM "released_line")
    `);
    await queryRunner.query('DROP TABLE "released_line"');
  }
}
