import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Entitlements, and links from add-ons to entitlements. */
export class CreateEntitlements1795210000005 implements MigrationInterface {
  readonly name = 'CreateEntitlements1795210000005';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "entitlement" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "key" character varying(64) NOT NULL,
          "name" character varying(200) NOT NULL,
          "type" character varying(10) NOT NULL,
          "unit" character varying(40),
          "meter_id" character varying(40) COLLATE "C",
          "metadata" jsonb NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "entitlement_key_unique" UNIQUE ("key"),
          CONSTRAINT "entitlement_meter_check" CHECK (
              "type" = 'metered'
              OR "meter_id" IS NULL
          ),
          CONSTRAINT "entitlement_type_check" CHECK ("type" IN ('boolean', 'static', 'metered')),
          CONSTRAINT "entitlement_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "addon_entitlement" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "addon_id" character varying(40) COLLATE "C" NOT NULL,
          "entitlement_id" character varying(40) COLLATE "C" NOT NULL,
          "mode" character varying(10) NOT NULL,
          "value" numeric,
          "metadata" jsonb NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "addon_entitlement_pair_unique" UNIQUE ("addon_id", "entitlement_id"),
          CONSTRAINT "addon_entitlement_value_check" CHECK (
              "value" >= 0
              AND (
                  "mode" = 'set'
                  OR "value" IS NOT NULL
              )
          ),
          CONSTRAINT "addon_entitlement_mode_check" CHECK ("mode" IN ('increment', 'set')),
          CONSTRAINT "addon_entitlement_pkey" PRIMARY KEY ("id"),
          CONSTRAINT "addon_entitlement_addon_id_fkey" FOREIGN KEY ("addon_id") REFERENCES "addon" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION,
          CONSTRAINT "addon_entitlement_entitlement_id_fkey" FOREIGN KEY ("entitlement_id") REFERENCES "entitlement" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "addon_entitlement_entitlement_id_index" ON "addon_entitlement" ("entitlement_id")
    `);
    await queryRunner.query(`
      CREATE INDEX "addon_entitlement_addon_id_index" ON "addon_entitlement" ("addon_id", "id")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "addon_entitlement"');
    await queryRunner.query('DROP TABLE "entitlement"');
  }
}
