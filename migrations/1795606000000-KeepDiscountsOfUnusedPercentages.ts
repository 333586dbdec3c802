import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keeps what an unused percentage took off late usage of a bill that is void. The previous release ignores the column. */
export class KeepDiscountsOfUnusedPercentages1795606000000 implements MigrationInterface {
  readonly name = 'KeepDiscountsOfUnusedPercentages1795606000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE "coupon_redemption" ADD "corrections_amount" bigint NOT NULL DEFAULT '0'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "coupon_redemption" DROP COLUMN "corrections_amount"');
  }
}
