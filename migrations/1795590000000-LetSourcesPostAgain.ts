import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets a source post several transactions of the same kind, with different versions. An example is a dispute whose
 * funds the provider pays back in parts. The version is zero if a source posts a kind only once.
 */
export class LetSourcesPostAgain1795590000000 implements MigrationInterface {
  readonly name = 'LetSourcesPostAgain1795590000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "ledger_transaction" ADD "source_version" integer NOT NULL DEFAULT 0',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "ledger_transaction" DROP COLUMN "source_version"');
  }
}
