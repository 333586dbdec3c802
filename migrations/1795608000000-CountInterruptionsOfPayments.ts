import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Counts the attempts that the database interrupted, which test clocks do not count as calls without an answer. The
 * previous release ignores the columns.
 */
export class CountInterruptionsOfPayments1795608000000 implements MigrationInterface {
  readonly name = 'CountInterruptionsOfPayments1795608000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "payment" ADD "interruptions" integer NOT NULL DEFAULT 0');
    await queryRunner.query('ALTER TABLE "refund" ADD "interruptions" integer NOT NULL DEFAULT 0');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "refund" DROP COLUMN "interruptions"');
    await queryRunner.query('ALTER TABLE "payment" DROP COLUMN "interruptions"');
  }
}
