import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Entitlement balances of customers, with grants and consumptions. A balance is valid only for one version of the
 * customer.
 */
export class CreateCustomerEntitlements1795350000002 implements MigrationInterface {
  readonly name = 'CreateCustomerEntitlements1795350000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "entitlement"
          ADD "thresholds" integer array NOT NULL DEFAULT '{80,100}',
          ADD "rules_version" integer NOT NULL DEFAULT 1
    `);
    await queryRunner.query(`
      CREATE TABLE "customer_access" (
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "test_clock_id" character varying(40) COLLATE "C",
          "version" integer NOT NULL,
          CONSTRAINT "customer_access_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id"),
          CONSTRAINT "customer_access_pkey" PRIMARY KEY ("customer_id")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "customer_entitlement" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "entitlement_id" character varying(40) COLLATE "C" NOT NULL,
          "test_clock_id" character varying(40) COLLATE "C",
          "access_version" integer NOT NULL,
          "rules_version" integer NOT NULL,
          "valid_until" TIMESTAMP(3) WITH TIME ZONE,
          "is_held" boolean NOT NULL,
          "allowance" numeric,
          "granted" numeric NOT NULL,
          "is_overage_allowed" boolean NOT NULL,
          "reset" character varying(10),
          "window_start_at" TIMESTAMP(3) WITH TIME ZONE,
          "window_end_at" TIMESTAMP(3) WITH TIME ZONE,
          "used" numeric NOT NULL,
          "spent" numeric NOT NULL,
          "told" jsonb NOT NULL,
          "sources" jsonb NOT NULL,
          "due_at" TIMESTAMP(3) WITH TIME ZONE,
          "lease_ends_at" TIMESTAMP(3) WITH TIME ZONE,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "customer_entitlement_pair_unique" UNIQUE ("customer_id", "entitlement_id"),
          CONSTRAINT "customer_entitlement_window_check" CHECK (("reset" IS NULL) = ("window_start_at" IS NULL) AND "window_start_at" < "window_end_at"),
          CONSTRAINT "customer_entitlement_check" CHECK ("allowance" >= 0 AND "granted" >= 0 AND "spent" >= 0),
          CONSTRAINT "customer_entitlement_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id"),
          CONSTRAINT "customer_entitlement_entitlement_id_fkey" FOREIGN KEY ("entitlement_id") REFERENCES "entitlement" ("id"),
          CONSTRAINT "customer_entitlement_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "customer_entitlement_entitlement_id_index" ON "customer_entitlement" ("entitlement_id")
    `);
    await queryRunner.query(`
      CREATE INDEX "customer_entitlement_due_index" ON "customer_entitlement" ("due_at")
      WHERE "due_at" IS NOT NULL AND "test_clock_id" IS NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "customer_entitlement_test_clock_due_index" ON "customer_entitlement" ("test_clock_id", "due_at")
      WHERE "due_at" IS NOT NULL AND "test_clock_id" IS NOT NULL
    `);
    await queryRunner.query(`
      CREATE TABLE "entitlement_grant" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "entitlement_id" character varying(40) COLLATE "C" NOT NULL,
          "value" numeric,
          "balance" numeric,
          "priority" integer NOT NULL,
          "expires_at" TIMESTAMP(3) WITH TIME ZONE,
          "rollover_min" numeric,
          "rollover_max" numeric,
          "ended_at" TIMESTAMP(3) WITH TIME ZONE,
          "end" character varying(10),
          "metadata" jsonb NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "entitlement_grant_value_check" CHECK ("value" > 0 AND "balance" >= 0),
          CONSTRAINT "entitlement_grant_rollover_check" CHECK (("rollover_min" IS NULL) = ("rollover_max" IS NULL) AND "rollover_min" >= 0 AND "rollover_min" <= "rollover_max"),
          CONSTRAINT "entitlement_grant_end_check" CHECK (("end" IS NULL) = ("ended_at" IS NULL) AND "end" IN ('expired', 'lapsed', 'voided')),
          CONSTRAINT "entitlement_grant_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id"),
          CONSTRAINT "entitlement_grant_entitlement_id_fkey" FOREIGN KEY ("entitlement_id") REFERENCES "entitlement" ("id"),
          CONSTRAINT "entitlement_grant_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "entitlement_grant_customer_index" ON "entitlement_grant" ("customer_id", "entitlement_id", "id")
    `);
    await queryRunner.query(`
      CREATE INDEX "entitlement_grant_entitlement_id_index" ON "entitlement_grant" ("entitlement_id")
    `);
    await queryRunner.query(`
      CREATE TABLE "entitlement_consumption" (
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "entitlement_id" character varying(40) COLLATE "C" NOT NULL,
          "idempotency_key" character varying(255) COLLATE "C" NOT NULL,
          "quantity" numeric NOT NULL,
          "answer" jsonb NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "entitlement_consumption_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id"),
          CONSTRAINT "entitlement_consumption_entitlement_id_fkey" FOREIGN KEY ("entitlement_id") REFERENCES "entitlement" ("id"),
          CONSTRAINT "entitlement_consumption_pkey" PRIMARY KEY ("customer_id", "entitlement_id", "idempotency_key")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "entitlement_grace" (
          "subscription_id" character varying(40) COLLATE "C" NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "started_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "entitlement_grace_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscription" ("id"),
          CONSTRAINT "entitlement_grace_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id"),
          CONSTRAINT "entitlement_grace_pkey" PRIMARY KEY ("subscription_id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "entitlement_grace_customer_index" ON "entitlement_grace" ("customer_id")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of [
      'entitlement_grace',
      'entitlement_consumption',
      'entitlement_grant',
      'customer_entitlement',
      'customer_access',
    ]) {
      await queryRunner.query(`DROP TABLE "${table}"`);
    }
    await queryRunner.query(`
      ALTER TABLE "entitlement" DROP COLUMN "rules_version", DROP COLUMN "thresholds"
    `);
  }
}
