import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Fills one batch of keys. Each batch is a commit. */
const FILL = `
  WITH batch AS (
    SELECT "id" FROM "api_key"
    WHERE "created_by" = 'bootstrap' AND "bootstrap_hash" IS NULL AND ("version" = 1 OR "prefix" = '')
    LIMIT 1000
  ), filled AS (
    UPDATE "api_key" SET "bootstrap_hash" = "hash" FROM batch WHERE "api_key"."id" = batch."id"
    RETURNING "api_key"."id"
  )
  SELECT "id" FROM filled`;

/**
 * Remembers the hash of the first secret of each key that was created from `BOOTSTRAP_API_KEY`, so that a rolled key is
 * not created again. A key that was never rolled still has that hash. A rolled key has lost it: its version is above 1,
 * and its secret has a prefix, which a secret of the setting normally has not. The previous release ignores the column.
 */
export class RememberBootstrapSecrets1796212800000 implements MigrationInterface {
  readonly name = 'RememberBootstrapSecrets1796212800000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    await queryRunner.query(
      'ALTER TABLE "api_key" ADD COLUMN IF NOT EXISTS "bootstrap_hash" character(64)',
    );
    let filled: readonly unknown[];
    do {
      filled = (await queryRunner.query(FILL)) as readonly unknown[];
    } while (filled.length > 0);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    await queryRunner.query('ALTER TABLE "api_key" DROP COLUMN IF EXISTS "bootstrap_hash"');
  }
}
