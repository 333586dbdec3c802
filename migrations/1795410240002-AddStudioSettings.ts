import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Settings of the studio: the largest refund that admins with the role `support` may make. The table has a single row. */
export class AddStudioSettings1795410240002 implements MigrationInterface {
  readonly name = 'AddStudioSettings1795410240002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "studio_settings" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "version" integer NOT NULL,
        "support_refund_limits" jsonb NOT NULL,
        "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "studio_settings_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      INSERT INTO "studio_settings" ("id", "version", "support_refund_limits", "updated_at")
      VALUES ('studio_settings', 1, '{}', now())
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "studio_settings"');
  }
}
