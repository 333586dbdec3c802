import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Subscriptions, their items, and the periods that were billed. The periods of one subscription do not overlap. */
export class CreateSubscriptions1795230000003 implements MigrationInterface {
  readonly name = 'CreateSubscriptions1795230000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE EXTENSION IF NOT EXISTS btree_gist');
    await queryRunner.query(`
      CREATE TABLE "scheduled_change" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "subscription_id" character varying(40) COLLATE "C" NOT NULL,
          "terms" jsonb NOT NULL,
          "effective_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "status" character varying(10) NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "scheduled_change_status_check" CHECK ("status" IN ('pending', 'applied', 'undone')),
          CONSTRAINT "scheduled_change_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE UNIQUE INDEX "scheduled_change_pending_unique" ON "scheduled_change" ("subscription_id")
      WHERE "status" = 'pending'
    `);
    await queryRunner.query(`
      CREATE INDEX "scheduled_change_subscription_index" ON "scheduled_change" ("subscription_id", "id")
    `);
    await queryRunner.query(`
      CREATE TABLE "subscription_item" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "subscription_id" character varying(40) COLLATE "C" NOT NULL,
          "addon_id" character varying(40) COLLATE "C",
          "price" jsonb NOT NULL,
          "quantity" numeric NOT NULL,
          "start_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "end_at" TIMESTAMP(3) WITH TIME ZONE,
          "is_paused" boolean NOT NULL,
          CONSTRAINT "subscription_item_span_check" CHECK ("start_at" <= "end_at"),
          CONSTRAINT "subscription_item_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "subscription_item_subscription_index" ON "subscription_item" ("subscription_id", "id")
    `);
    await queryRunner.query(`
      CREATE TABLE "subscription" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "test_clock_id" character varying(40) COLLATE "C",
          "status" character varying(20) NOT NULL,
          "plan_id" character varying(40) COLLATE "C" NOT NULL,
          "plan_version_id" character varying(40) COLLATE "C" NOT NULL,
          "quantity" numeric NOT NULL,
          "addons" jsonb NOT NULL,
          "currency" character(3) NOT NULL,
          "time_zone" character varying(64) NOT NULL,
          "collection" character varying(20) NOT NULL,
          "days_until_due" integer NOT NULL,
          "billing_anchor" character varying(20) NOT NULL,
          "interval" character varying(10) NOT NULL,
          "interval_count" integer NOT NULL,
          "proration" character varying(10) NOT NULL,
          "start_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "trial_end_at" TIMESTAMP(3) WITH TIME ZONE,
          "anchor_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "current_period_start_at" TIMESTAMP(3) WITH TIME ZONE,
          "current_period_end_at" TIMESTAMP(3) WITH TIME ZONE,
          "paused_at" TIMESTAMP(3) WITH TIME ZONE,
          "cancel_at" TIMESTAMP(3) WITH TIME ZONE,
          "canceled_at" TIMESTAMP(3) WITH TIME ZONE,
          "ended_at" TIMESTAMP(3) WITH TIME ZONE,
          "next_billing_at" TIMESTAMP(3) WITH TIME ZONE,
          "lease_ends_at" TIMESTAMP(3) WITH TIME ZONE,
          "metadata" jsonb NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "subscription_period_check" CHECK ("current_period_start_at" <= "current_period_end_at"),
          CONSTRAINT "subscription_due_check" CHECK ("next_billing_at" IS NULL OR "status" NOT IN ('canceled', 'incomplete_expired')),
          CONSTRAINT "subscription_ended_check" CHECK (("status" = 'canceled') = ("ended_at" IS NOT NULL)),
          CONSTRAINT "subscription_paused_check" CHECK (("status" = 'paused') = ("paused_at" IS NOT NULL)),
          CONSTRAINT "subscription_status_check" CHECK ("status" IN ('incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'paused', 'canceled', 'incomplete_expired')),
          CONSTRAINT "subscription_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "subscription_test_clock_due_index" ON "subscription" ("test_clock_id", "next_billing_at")
      WHERE "next_billing_at" IS NOT NULL AND "test_clock_id" IS NOT NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "subscription_due_index" ON "subscription" ("next_billing_at")
      WHERE "next_billing_at" IS NOT NULL AND "test_clock_id" IS NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "subscription_customer_index" ON "subscription" ("customer_id", "id")
    `);
    await queryRunner.query(`
      CREATE TABLE "subscription_period" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "subscription_id" character varying(40) COLLATE "C" NOT NULL,
          "index" integer NOT NULL,
          "start_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "end_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "full_start_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "full_end_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "is_trial" boolean NOT NULL,
          "is_closed" boolean NOT NULL,
          CONSTRAINT "subscription_period_span_check" CHECK ("start_at" <= "end_at" AND "full_start_at" <= "start_at" AND "end_at" <= "full_end_at"),
          CONSTRAINT "subscription_period_overlap" EXCLUDE USING gist ("subscription_id" WITH =, tstzrange("start_at", "end_at") WITH &&),
          CONSTRAINT "subscription_period_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      ALTER TABLE "scheduled_change"
      ADD CONSTRAINT "scheduled_change_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscription"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "subscription_item"
      ADD CONSTRAINT "subscription_item_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscription"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "subscription"
      ADD CONSTRAINT "subscription_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "subscription"
      ADD CONSTRAINT "subscription_test_clock_id_fkey" FOREIGN KEY ("test_clock_id") REFERENCES "test_clock"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "subscription"
      ADD CONSTRAINT "subscription_plan_id_fkey" FOREIGN KEY ("plan_id") REFERENCES "plan"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "subscription"
      ADD CONSTRAINT "subscription_plan_version_id_fkey" FOREIGN KEY ("plan_version_id") REFERENCES "plan_version"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "subscription_period"
      ADD CONSTRAINT "subscription_period_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscription"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "subscription_period"');
    await queryRunner.query('DROP TABLE "subscription_item"');
    await queryRunner.query('DROP TABLE "scheduled_change"');
    await queryRunner.query('DROP TABLE "subscription"');
    await queryRunner.query('DROP EXTENSION btree_gist');
  }
}
