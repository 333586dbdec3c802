import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores when the password of an admin was last changed. Null: not since this migration. */
export class ShowPasswordChanges1795580000000 implements MigrationInterface {
  readonly name = 'ShowPasswordChanges1795580000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "studio_admin" ADD "password_changed_at" TIMESTAMP(3) WITH TIME ZONE',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "studio_admin" DROP COLUMN "password_changed_at"');
  }
}
