import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Checks the subscriptions that were stored before the constraint, without a lock that blocks writers. */
export class ValidateFailedRenewals1795440000001 implements MigrationInterface {
  readonly name = 'ValidateFailedRenewals1795440000001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "subscription" VALIDATE CONSTRAINT "subscription_renewal_failure_check"',
    );
  }

  async down(): Promise<void> {
    // The constraint is dropped with the columns by the migration that adds it.
  }
}
