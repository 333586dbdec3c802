import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Add-ons and their prices. */
export class CreateAddons1795210000004 implements MigrationInterface {
  readonly name = 'CreateAddons1795210000004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "addon" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "code" character varying(64) NOT NULL,
          "name" character varying(200) NOT NULL,
          "currency" character(3) NOT NULL,
          "metadata" jsonb NOT NULL,
          "archived_at" TIMESTAMP(3) WITH TIME ZONE,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "addon_code_unique" UNIQUE ("code"),
          CONSTRAINT "addon_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "price" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "addon_id" character varying(40) COLLATE "C" NOT NULL,
          "name" character varying(200) NOT NULL,
          "model" character varying(20) NOT NULL,
          "timing" character varying(20) NOT NULL,
          "amount" bigint,
          "unit_amount" numeric,
          "tiers" jsonb,
          "package_size" numeric,
          "free_units" numeric,
          "rate" numeric,
          "fixed_amount" bigint,
          "meter_id" character varying(40) COLLATE "C",
          "minimum_amount" bigint,
          "maximum_amount" bigint,
          "charge_flat_at_zero" boolean,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "price_limits_check" CHECK (
              "minimum_amount" >= 0
              AND "maximum_amount" >= 0
              AND "minimum_amount" <= "maximum_amount"
          ),
          CONSTRAINT "price_timing_check" CHECK (
              "timing" = 'in_arrears'
              OR "timing" = 'in_advance'
              AND "meter_id" IS NULL
          ),
          CONSTRAINT "price_free_units_check" CHECK (
              ("model" IN ('package', 'percentage')) = ("free_units" IS NOT NULL)
              AND "free_units" >= 0
          ),
          CONSTRAINT "price_percentage_check" CHECK (
              ("model" = 'percentage') = ("rate" IS NOT NULL)
              AND ("model" = 'percentage') = ("fixed_amount" IS NOT NULL)
              AND "rate" BETWEEN 0 AND 1
              AND "fixed_amount" >= 0
          ),
          CONSTRAINT "price_package_check" CHECK (
              ("model" = 'package') = ("package_size" IS NOT NULL)
              AND "package_size" > 0
          ),
          CONSTRAINT "price_tiers_check" CHECK (
              ("model" IN ('graduated', 'volume')) = ("tiers" IS NOT NULL)
              AND ("model" IN ('graduated', 'volume')) = ("charge_flat_at_zero" IS NOT NULL)
              AND jsonb_array_length("tiers") > 0
          ),
          CONSTRAINT "price_unit_amount_check" CHECK (
              ("model" IN ('per_unit', 'package')) = ("unit_amount" IS NOT NULL)
              AND "unit_amount" >= 0
          ),
          CONSTRAINT "price_flat_check" CHECK (
              ("model" = 'flat') = ("amount" IS NOT NULL)
              AND "amount" >= 0
          ),
          CONSTRAINT "price_model_check" CHECK (
              "model" IN (
                  'flat',
                  'per_unit',
                  'graduated',
                  'volume',
                  'package',
                  'percentage'
              )
          ),
          CONSTRAINT "price_pkey" PRIMARY KEY ("id"),
          CONSTRAINT "price_addon_id_fkey" FOREIGN KEY ("addon_id") REFERENCES "addon" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "price_addon_id_index" ON "price" ("addon_id", "id")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "price"');
    await queryRunner.query('DROP TABLE "addon"');
  }
}
