import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keys with which programs call the API if it requires a credential. Of a secret, only the SHA-256 is stored. */
export class AddApiKeys1795410230001 implements MigrationInterface {
  readonly name = 'AddApiKeys1795410230001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "api_key" (
        "id" character varying(40) COLLATE "C" NOT NULL,
        "version" integer NOT NULL,
        "name" character varying(200) NOT NULL,
        "scopes" character varying(40) array NOT NULL,
        "hash" character(64) NOT NULL,
        "prefix" character varying(24) NOT NULL,
        "last_four" character(4) NOT NULL,
        "previous_hash" character(64),
        "previous_expires_at" TIMESTAMP(3) WITH TIME ZONE,
        "expires_at" TIMESTAMP(3) WITH TIME ZONE,
        "revoked_at" TIMESTAMP(3) WITH TIME ZONE,
        "last_used_at" TIMESTAMP(3) WITH TIME ZONE,
        "created_by" character varying(40) NOT NULL,
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "api_key_hash_unique" UNIQUE ("hash"),
        CONSTRAINT "api_key_previous_check"
          CHECK (("previous_hash" IS NULL) = ("previous_expires_at" IS NULL)),
        CONSTRAINT "api_key_scopes_check" CHECK (cardinality("scopes") > 0),
        CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "api_key_previous_hash_index" ON "api_key" ("previous_hash")
      WHERE "previous_hash" IS NOT NULL
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "api_key"');
  }
}
