import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Checks the lines that were stored before the constraint, without a lock that blocks writers. */
export class ValidateTraces1795412200001 implements MigrationInterface {
  readonly name = 'ValidateTraces1795412200001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "invoice_line" VALIDATE CONSTRAINT "invoice_line_trace_check"',
    );
  }

  async down(): Promise<void> {
    // The constraint is dropped by the migration that adds it.
  }
}
