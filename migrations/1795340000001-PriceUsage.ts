import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Prices of usage: price by group of events, and percentage prices with free amounts and with limits for each event. */
export class PriceUsage1795340000001 implements MigrationInterface {
  readonly name = 'PriceUsage1795340000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "price"
      ADD "free_amount" bigint,
      ADD "event_minimum_amount" bigint,
      ADD "event_maximum_amount" bigint,
      ADD "is_by_group" boolean NOT NULL DEFAULT false
    `);
    await queryRunner.query(`
      UPDATE "price" SET "free_amount" = 0 WHERE "model" = 'percentage'
    `);
    await queryRunner.query(`
      ALTER TABLE "price"
      ALTER COLUMN "is_by_group" DROP DEFAULT,
      ADD CONSTRAINT "price_event_limits_check" CHECK (("model" = 'percentage') = ("free_amount" IS NOT NULL) AND "free_amount" >= 0 AND ("model" = 'percentage' OR num_nonnulls("event_minimum_amount", "event_maximum_amount") = 0) AND "event_minimum_amount" >= 0 AND "event_maximum_amount" >= 0 AND "event_minimum_amount" <= "event_maximum_amount"),
      ADD CONSTRAINT "price_by_group_check" CHECK (NOT "is_by_group" OR "meter_id" IS NOT NULL)
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "price"
      DROP CONSTRAINT "price_by_group_check",
      DROP CONSTRAINT "price_event_limits_check",
      DROP COLUMN "is_by_group",
      DROP COLUMN "event_maximum_amount",
      DROP COLUMN "event_minimum_amount",
      DROP COLUMN "free_amount"
    `);
  }
}
