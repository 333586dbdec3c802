import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Records which process claimed which due work, so that the leases of a process end when it dies. Uses a table of
 * claimed batches: an indexed column in each table with leases would make each claim write all indexes of these large
 * tables.
 */
export class ReleaseClaimsOfDeadProcesses1795410220001 implements MigrationInterface {
  readonly name = 'ReleaseClaimsOfDeadProcesses1795410220001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "claimed_batch" (
        "id" bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
        "leased_by" integer NOT NULL,
        "work" character varying(40) NOT NULL,
        "row_ids" text array NOT NULL,
        "lease_ends_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "claimed_batch_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query('ALTER TABLE "test_clock" ADD "leased_by" integer');
    await queryRunner.query(`
      CREATE INDEX "test_clock_leased_by_index" ON "test_clock" ("leased_by")
      WHERE "leased_by" IS NOT NULL
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "test_clock" DROP COLUMN "leased_by"');
    await queryRunner.query('DROP TABLE "claimed_batch"');
  }
}
