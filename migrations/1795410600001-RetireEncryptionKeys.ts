import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Records which encryption keys were replaced, so that no process uses them to encrypt again. */
export class RetireEncryptionKeys1795410600001 implements MigrationInterface {
  readonly name = 'RetireEncryptionKeys1795410600001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "encryption_key_use"
      ADD COLUMN "status" character varying(20) NOT NULL DEFAULT 'in_use'
    `);
    await queryRunner.query(`
      ALTER TABLE "encryption_key_use"
      ADD CONSTRAINT "encryption_key_use_status_check"
      CHECK ("status" IN ('in_use', 'retiring', 'retired'))
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DELETE FROM "encryption_key_use" WHERE "status" = 'retired'`);
    await queryRunner.query('ALTER TABLE "encryption_key_use" DROP COLUMN "status"');
  }
}
