import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Checks the credit notes that were stored before the constraint, without a lock that blocks writers. */
export class ValidateCreditNotesOfTax1795465000001 implements MigrationInterface {
  readonly name = 'ValidateCreditNotesOfTax1795465000001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "credit_note" VALIDATE CONSTRAINT "credit_note_total_check"',
    );
  }

  async down(): Promise<void> {
    // The migration that adds the constraint replaces it.
  }
}
