import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Studio admins. */
export class CreateStudioAdmins1795210000006 implements MigrationInterface {
  readonly name = 'CreateStudioAdmins1795210000006';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "studio_admin" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "email" character varying(254) NOT NULL,
          "email_key" text NOT NULL,
          "name" character varying(200) NOT NULL,
          "role" character varying(10) NOT NULL,
          "is_active" boolean NOT NULL DEFAULT true,
          "password_hash" character varying(512) NOT NULL,
          "sessions_valid_from" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "studio_admin_email_unique" UNIQUE ("email_key"),
          CONSTRAINT "studio_admin_role_check" CHECK ("role" IN ('owner', 'admin', 'viewer')),
          CONSTRAINT "studio_admin_pkey" PRIMARY KEY ("id")
      )
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "studio_admin"');
  }
}
