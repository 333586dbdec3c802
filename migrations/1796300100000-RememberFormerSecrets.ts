import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Remembers the hashes of former secrets of API keys, so that a start does not store one again. */
export class RememberFormerSecrets1796300100000 implements MigrationInterface {
  readonly name = 'RememberFormerSecrets1796300100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "api_key_former_secret" (
        "hash" character(64) NOT NULL,
        CONSTRAINT "api_key_former_secret_pkey" PRIMARY KEY ("hash"))`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "api_key_former_secret"');
  }
}
