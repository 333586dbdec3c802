import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Second factors of studio admins, and the setting that requires them. */
export class AddSecondFactors1795410500000 implements MigrationInterface {
  readonly name = 'AddSecondFactors1795410500000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "admin_second_factor" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "version" integer NOT NULL,
        "admin_id" character varying(40) COLLATE "C" NOT NULL,
        "sealed_secret" text NOT NULL,
        "last_step" integer,
        "recovery_hashes" character(64) array NOT NULL,
        "enabled_at" TIMESTAMP(3) WITH TIME ZONE,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "admin_second_factor_admin_unique" UNIQUE ("admin_id"),
        CONSTRAINT "admin_second_factor_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      ALTER TABLE "studio_settings"
        ADD "second_factor_required" boolean NOT NULL DEFAULT false
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "studio_settings" DROP COLUMN "second_factor_required"');
    await queryRunner.query('DROP TABLE "admin_second_factor"');
  }
}
