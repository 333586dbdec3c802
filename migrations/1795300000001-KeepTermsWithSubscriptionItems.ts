import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores two things with each item: the proration it was sold with, and, if a pause ended it early, its planned end.
 * Sets the quantity of flat prices to 1.
 */
export class KeepTermsWithSubscriptionItems1795300000001 implements MigrationInterface {
  readonly name = 'KeepTermsWithSubscriptionItems1795300000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "subscription_item"
      ADD "proration" character varying(10),
      ADD "planned_end_at" TIMESTAMP(3) WITH TIME ZONE
    `);
    await queryRunner.query(`
      UPDATE "subscription_item" SET
          "proration" = coalesce(
            (SELECT "plan_version"."proration" FROM "price"
             JOIN "plan_version" ON "plan_version"."id" = "price"."plan_version_id"
             WHERE "price"."id" = "subscription_item"."price" ->> 'priceId'),
            "subscription"."proration"),
          "quantity" = CASE "price" -> 'rating' ->> 'model' WHEN 'flat' THEN 1 ELSE "subscription_item"."quantity" END
      FROM "subscription" WHERE "subscription"."id" = "subscription_item"."subscription_id"
    `);
    await queryRunner.query(
      'ALTER TABLE "subscription_item" ALTER COLUMN "proration" SET NOT NULL',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "subscription_item" DROP COLUMN "planned_end_at", DROP COLUMN "proration"',
    );
  }
}
