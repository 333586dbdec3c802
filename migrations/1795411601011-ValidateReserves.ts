import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Validates the check of the previous migration, without blocking other sessions. */
export class ValidateReserves1795411601011 implements MigrationInterface {
  readonly name = 'ValidateReserves1795411601011';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "invoice" VALIDATE CONSTRAINT "invoice_pending_check"');
  }

  async down(): Promise<void> {
    // The previous migration replaces the check.
  }
}
