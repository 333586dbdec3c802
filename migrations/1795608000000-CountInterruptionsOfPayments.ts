import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['payment', 'refund'];

/**
 * Counts the attempts that the database interrupted, which test clocks do not count as calls without an answer. The
 * previous release ignores the columns. Each statement commits alone, so that no two tables are locked at once.
 */
export class CountInterruptionsOfPayments1795608000000 implements MigrationInterface {
  readonly name = 'CountInterruptionsOfPayments1795608000000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    for (const table of TABLES) {
      await queryRunner.query(
        `ALTER TABLE "${table}" ADD COLUMN IF NOT EXISTS "interruptions" integer NOT NULL DEFAULT 0`,
      );
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    for (const table of TABLES) {
      await queryRunner.query(`ALTER TABLE "${table}" DROP COLUMN IF EXISTS "interruptions"`);
    }
  }
}
