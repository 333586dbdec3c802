import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sessions of studio admins, counts of sign-in attempts, and the new role `support`. */
export class AddAdminSessions1795410240001 implements MigrationInterface {
  readonly name = 'AddAdminSessions1795410240001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "admin_session" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "version" integer NOT NULL,
        "admin_id" character varying(40) COLLATE "C" NOT NULL,
        "hash" character(64) NOT NULL,
        "valid_from" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "address" character varying(45) NOT NULL,
        "user_agent" character varying(200) NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "last_used_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "expires_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "ended_at" TIMESTAMP(3) WITH TIME ZONE,
        CONSTRAINT "admin_session_hash_unique" UNIQUE ("hash"),
        CONSTRAINT "admin_session_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(
      'CREATE INDEX "admin_session_admin_index" ON "admin_session" ("admin_id", "id")',
    );
    await queryRunner.query(
      'CREATE INDEX "admin_session_expiry_index" ON "admin_session" ("expires_at")',
    );
    await queryRunner.query(`
      CREATE TABLE "sign_in_attempt" (
        "key" character varying(100) COLLATE "C" NOT NULL,
        "tried_at" TIMESTAMP WITH TIME ZONE array NOT NULL,
        "last_tried_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "sign_in_attempt_pkey" PRIMARY KEY ("key")
      )
    `);
    await queryRunner.query(
      'CREATE INDEX "sign_in_attempt_last_index" ON "sign_in_attempt" ("last_tried_at")',
    );
    await queryRunner.query(`
      ALTER TABLE "studio_admin" DROP CONSTRAINT "studio_admin_role_check",
        ADD CONSTRAINT "studio_admin_role_check"
          CHECK ("role" IN ('owner', 'admin', 'support', 'viewer'))
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "studio_admin" DROP CONSTRAINT "studio_admin_role_check",
        ADD CONSTRAINT "studio_admin_role_check" CHECK ("role" IN ('owner', 'admin', 'viewer'))
    `);
    await queryRunner.query('DROP TABLE "sign_in_attempt"');
    await queryRunner.query('DROP TABLE "admin_session"');
  }
}
