import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Plans and their versions, with the prices and entitlements of each version. */
export class CreatePlans1795220000001 implements MigrationInterface {
  readonly name = 'CreatePlans1795220000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "plan" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "code" character varying(64) NOT NULL,
          "name" character varying(200) NOT NULL,
          "currency" character(3) NOT NULL,
          "active_number" integer NOT NULL,
          "metadata" jsonb NOT NULL,
          "archived_at" TIMESTAMP(3) WITH TIME ZONE,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "plan_code_unique" UNIQUE ("code"),
          CONSTRAINT "plan_active_number_check" CHECK ("active_number" >= 1),
          CONSTRAINT "plan_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "plan_version" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "plan_id" character varying(40) COLLATE "C" NOT NULL,
          "number" integer NOT NULL,
          "interval" character varying(10) NOT NULL,
          "interval_count" integer NOT NULL,
          "trial_days" integer NOT NULL,
          "proration" character varying(10) NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "plan_version_number_unique" UNIQUE ("plan_id", "number"),
          CONSTRAINT "plan_version_proration_check" CHECK ("proration" IN ('day', 'second', 'none')),
          CONSTRAINT "plan_version_trial_check" CHECK ("trial_days" >= 0),
          CONSTRAINT "plan_version_interval_check" CHECK (
              "interval" IN ('day', 'week', 'month', 'year')
              AND "interval_count" >= 1
          ),
          CONSTRAINT "plan_version_number_check" CHECK ("number" >= 1),
          CONSTRAINT "plan_version_pkey" PRIMARY KEY ("id"),
          CONSTRAINT "plan_version_plan_id_fkey" FOREIGN KEY ("plan_id") REFERENCES "plan" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "plan_entitlement" (
          "plan_version_id" character varying(40) COLLATE "C" NOT NULL,
          "entitlement_id" character varying(40) COLLATE "C" NOT NULL,
          "position" integer NOT NULL,
          "value" numeric,
          "is_hard_limit" boolean NOT NULL,
          "reset" character varying(10) NOT NULL,
          CONSTRAINT "plan_entitlement_reset_check" CHECK ("reset" IN ('period', 'never')),
          CONSTRAINT "plan_entitlement_value_check" CHECK ("value" >= 0),
          CONSTRAINT "plan_entitlement_pkey" PRIMARY KEY ("plan_version_id", "entitlement_id"),
          CONSTRAINT "plan_entitlement_plan_version_id_fkey" FOREIGN KEY ("plan_version_id") REFERENCES "plan_version" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION,
          CONSTRAINT "plan_entitlement_entitlement_id_fkey" FOREIGN KEY ("entitlement_id") REFERENCES "entitlement" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "plan_entitlement_entitlement_id_index" ON "plan_entitlement" ("entitlement_id")
    `);
    await queryRunner.query(`
      ALTER TABLE "price"
      ALTER COLUMN "addon_id" DROP NOT NULL,
      ADD COLUMN "plan_version_id" character varying(40) COLLATE "C",
      ADD CONSTRAINT "price_owner_check" CHECK (num_nonnulls("addon_id", "plan_version_id") = 1),
      ADD CONSTRAINT "price_plan_version_id_fkey" FOREIGN KEY ("plan_version_id") REFERENCES "plan_version" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      CREATE INDEX "price_plan_version_id_index" ON "price" ("plan_version_id", "id")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DELETE FROM "price" WHERE "addon_id" IS NULL');
    await queryRunner.query(`
      ALTER TABLE "price"
      DROP COLUMN "plan_version_id",
      ALTER COLUMN "addon_id" SET NOT NULL
    `);
    await queryRunner.query('DROP TABLE "plan_entitlement"');
    await queryRunner.query('DROP TABLE "plan_version"');
    await queryRunner.query('DROP TABLE "plan"');
  }
}
