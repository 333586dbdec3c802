import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks test clocks whose deletion has begun. Their customers are purged in several commits. */
export class DeleteTestClocksInPortions1795410700004 implements MigrationInterface {
  readonly name = 'DeleteTestClocksInPortions1795410700004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "test_clock" ADD "deleted_at" TIMESTAMP(3) WITH TIME ZONE',
    );
    await queryRunner.query(`
      CREATE INDEX "test_clock_deleted_index" ON "test_clock" ("id") WHERE "deleted_at" IS NOT NULL
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "test_clock" DROP COLUMN "deleted_at"');
  }
}
