import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Checks the events and changes that were stored before the constraints, without a lock that blocks writers. */
export class ValidatePackedRows1795412000001 implements MigrationInterface {
  readonly name = 'ValidatePackedRows1795412000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "event" VALIDATE CONSTRAINT "event_pack_check"');
    await queryRunner.query(
      'ALTER TABLE "audit_change" VALIDATE CONSTRAINT "audit_change_pack_check"',
    );
  }

  async down(): Promise<void> {
    // The constraints are dropped by the migration that adds them.
  }
}
