import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets a subscription wait for its first payment, and expire without it. Existing subscriptions do not wait. */
export class AwaitFirstPayments1795360000001 implements MigrationInterface {
  readonly name = 'AwaitFirstPayments1795360000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "subscription"
      ADD "payment_behavior" character varying(20) NOT NULL DEFAULT 'allow_active',
      ADD "incomplete_expires_at" TIMESTAMP(3) WITH TIME ZONE
    `);
    await queryRunner.query(
      'ALTER TABLE "subscription" DROP CONSTRAINT "subscription_ended_check"',
    );
    await queryRunner.query(`
      ALTER TABLE "subscription"
      ADD CONSTRAINT "subscription_ended_check" CHECK (
          ("status" IN ('canceled', 'incomplete_expired')) = ("ended_at" IS NOT NULL)
      ),
      ADD CONSTRAINT "subscription_payment_behavior_check" CHECK (
          "payment_behavior" IN ('allow_active', 'default_incomplete')
      ),
      ADD CONSTRAINT "subscription_incomplete_check" CHECK (
          "incomplete_expires_at" IS NULL
          OR (
              "status" = 'incomplete'
              AND "payment_behavior" = 'default_incomplete'
          )
      )
    `);
  }

  /** Cancels subscriptions that wait or have expired. Their invoices stay unchanged. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "subscription" DROP COLUMN "incomplete_expires_at"');
    await queryRunner.query('ALTER TABLE "subscription" DROP COLUMN "payment_behavior"');
    await queryRunner.query(
      'ALTER TABLE "subscription" DROP CONSTRAINT "subscription_ended_check"',
    );
    await queryRunner.query(`
      UPDATE "subscription" SET "status" = 'canceled', "next_billing_at" = NULL,
          "ended_at" = coalesce("ended_at", "updated_at")
      WHERE "status" = 'incomplete_expired'
        OR "status" = 'incomplete' AND "current_period_start_at" IS NOT NULL
    `);
    await queryRunner.query(`
      ALTER TABLE "subscription"
      ADD CONSTRAINT "subscription_ended_check" CHECK (("status" = 'canceled') = ("ended_at" IS NOT NULL))
    `);
  }
}
