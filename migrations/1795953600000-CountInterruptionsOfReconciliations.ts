import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Counts the attempts of a reconciliation that the database interrupted, which do not make it fail. The previous
 * release ignores the column.
 */
export class CountInterruptionsOfReconciliations1795953600000 implements MigrationInterface {
  readonly name = 'CountInterruptionsOfReconciliations1795953600000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    await queryRunner.query(
      `ALTER TABLE "reconciliation" ADD COLUMN IF NOT EXISTS "interruptions" integer NOT NULL DEFAULT 0`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    await queryRunner.query(`ALTER TABLE "reconciliation" DROP COLUMN IF EXISTS "interruptions"`);
  }
}
