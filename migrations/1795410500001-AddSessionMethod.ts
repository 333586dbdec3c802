import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores how the admin of a session signed in. In existing sessions, the admin signed in with a password. */
export class AddSessionMethod1795410500001 implements MigrationInterface {
  readonly name = 'AddSessionMethod1795410500001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "admin_session"
        ADD "method" character varying(20) NOT NULL DEFAULT 'password',
        ADD CONSTRAINT "admin_session_method_check"
          CHECK ("method" IN ('password', 'openid_connect'))
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "admin_session" DROP CONSTRAINT "admin_session_method_check", DROP COLUMN "method"
    `);
  }
}
