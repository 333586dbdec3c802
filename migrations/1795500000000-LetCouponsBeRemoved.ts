import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets a coupon be removed from a subscription. This ends the redemption. */
export class LetCouponsBeRemoved1795500000000 implements MigrationInterface {
  readonly name = 'LetCouponsBeRemoved1795500000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE "coupon_redemption" ADD COLUMN "removed_at" TIMESTAMP(3) WITH TIME ZONE',
    );
    await queryRunner.query(`
      ALTER TABLE "coupon_redemption" ADD CONSTRAINT "coupon_redemption_removal_check"
      CHECK ("removed_at" IS NULL OR "ended_at" IS NOT NULL) NOT VALID
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "coupon_redemption" DROP COLUMN "removed_at"');
  }
}
