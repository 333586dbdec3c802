import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Bills late usage of an ended subscription with a separate invoice. Existing late usage is due at once, because its
 * subscription has already ended, even by the time of its test clock.
 */
export class CloseUsageOfEndedSubscriptions1795410050001 implements MigrationInterface {
  readonly name = 'CloseUsageOfEndedSubscriptions1795410050001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "usage_closed_subscription" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "customer_id" character varying(40) COLLATE "C" NOT NULL,
        "test_clock_id" character varying(40) COLLATE "C",
        "late_due_at" TIMESTAMP(3) WITH TIME ZONE,
        "lease_ends_at" TIMESTAMP(3) WITH TIME ZONE,
        CONSTRAINT "usage_closed_subscription_check" CHECK ("lease_ends_at" IS NULL OR "late_due_at" IS NOT NULL),
        CONSTRAINT "usage_closed_subscription_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "usage_closed_subscription_due_index"
      ON "usage_closed_subscription" ("test_clock_id", "late_due_at") WHERE "late_due_at" IS NOT NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "usage_closed_subscription_customer_index" ON "usage_closed_subscription" ("customer_id")
    `);
    await queryRunner.query(`
      INSERT INTO "usage_closed_subscription" ("id", "customer_id", "test_clock_id", "late_due_at")
      SELECT subscription.id, subscription.customer_id, subscription.test_clock_id,
        CASE WHEN bool_or(billed.is_late) THEN subscription.ended_at END
      FROM "subscription" JOIN "usage_billed" AS billed ON billed.subscription_id = subscription.id
      WHERE subscription.status = 'canceled'
      GROUP BY subscription.id
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "usage_closed_subscription"');
  }
}
