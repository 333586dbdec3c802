import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets a redemption end before it was made: the months of a repeating coupon count from the start of the first period
 * it discounts, and that is before the redemption if the subscription starts in the past.
 */
export class LetCouponsEndBeforeTheirRedemption1795410080001 implements MigrationInterface {
  readonly name = 'LetCouponsEndBeforeTheirRedemption1795410080001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE "coupon_redemption" DROP CONSTRAINT "coupon_redemption_ends_check"`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE "coupon_redemption" ADD CONSTRAINT "coupon_redemption_ends_check" CHECK ("ends_at" > "redeemed_at") NOT VALID`,
    );
  }
}
