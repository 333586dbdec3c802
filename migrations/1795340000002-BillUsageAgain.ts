import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores with billed usage its subscription and the terms of the price, so that late usage of the period can be billed. */
export class BillUsageAgain1795340000002 implements MigrationInterface {
  readonly name = 'BillUsageAgain1795340000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "usage_billed"
      ADD "subscription_id" character varying(40) COLLATE "C",
      ADD "terms" jsonb NOT NULL DEFAULT '{}',
      ADD "is_late" boolean NOT NULL DEFAULT false
    `);
    await queryRunner.query(`
      ALTER TABLE "usage_billed" ALTER COLUMN "terms" DROP DEFAULT, ALTER COLUMN "is_late" DROP DEFAULT
    `);
    await queryRunner.query(`
      CREATE INDEX "usage_billed_item_index" ON "usage_billed" ("item_id", "period_start_at")
    `);
    await queryRunner.query(`
      CREATE INDEX "usage_billed_late_index" ON "usage_billed" ("subscription_id") WHERE "is_late"
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX "usage_billed_late_index"');
    await queryRunner.query('DROP INDEX "usage_billed_item_index"');
    await queryRunner.query(`
      ALTER TABLE "usage_billed" DROP COLUMN "is_late", DROP COLUMN "terms", DROP COLUMN "subscription_id"
    `);
  }
}
