import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Checks the redemptions that were stored before the constraint, without a lock that blocks writers. */
export class ValidateRemovedCoupons1795500000001 implements MigrationInterface {
  readonly name = 'ValidateRemovedCoupons1795500000001';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "coupon_redemption" VALIDATE CONSTRAINT "coupon_redemption_removal_check"',
    );
  }

  async down(): Promise<void> {
    // The migration that adds the constraint drops it with its column.
  }
}
