import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets a source post a kind of transaction several times, such as a dispute whose funds the provider pays back in parts. Zero is the
 * version of transactions that their source posts once.
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
