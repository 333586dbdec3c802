import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores a sample encrypted with each encryption key. A process whose key is wrong or missing cannot read the sample,
 * and is refused when it starts. For keys already in use, the sample is the newest secret encrypted with the key.
 */
export class RecordEncryptionKeys1795410060001 implements MigrationInterface {
  readonly name = 'RecordEncryptionKeys1795410060001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "encryption_key_use" (
        "key_id" character varying(32) COLLATE "C" NOT NULL,
        "owner" text NOT NULL,
        "sealed" text NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "encryption_key_use_pkey" PRIMARY KEY ("key_id")
      )
    `);
    await queryRunner.query(`
      INSERT INTO "encryption_key_use" ("key_id", "owner", "sealed", "created_at")
      SELECT DISTINCT ON (split_part(sealed, ':', 2)) split_part(sealed, ':', 2), id, sealed, created_at
      FROM "webhook_secret" WHERE expires_at IS NULL OR expires_at > now()
      ORDER BY split_part(sealed, ':', 2), created_at DESC
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "encryption_key_use"');
  }
}
