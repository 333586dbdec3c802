import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Redemptions of coupons on subscriptions, and how much discount each still has. */
export class CreateCouponRedemptions1795220000003 implements MigrationInterface {
  readonly name = 'CreateCouponRedemptions1795220000003';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "coupon_redemption" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "coupon_id" character varying(40) COLLATE "C" NOT NULL,
          "subscription_id" character varying(40) COLLATE "C" NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "currency" character(3) NOT NULL,
          "redeemed_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "ends_at" TIMESTAMP(3) WITH TIME ZONE,
          "remaining_amount" bigint,
          "applied_amount" bigint NOT NULL,
          "ended_at" TIMESTAMP(3) WITH TIME ZONE,
          CONSTRAINT "coupon_redemption_subscription_unique" UNIQUE ("subscription_id", "coupon_id"),
          CONSTRAINT "coupon_redemption_ends_check" CHECK ("ends_at" > "redeemed_at"),
          CONSTRAINT "coupon_redemption_amounts_check" CHECK (
              "applied_amount" >= 0
              AND "remaining_amount" >= 0
          ),
          CONSTRAINT "coupon_redemption_pkey" PRIMARY KEY ("id"),
          CONSTRAINT "coupon_redemption_coupon_id_fkey" FOREIGN KEY ("coupon_id") REFERENCES "coupon" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION,
          CONSTRAINT "coupon_redemption_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "coupon_redemption_coupon_index" ON "coupon_redemption" ("coupon_id", "id")
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "coupon_redemption"');
  }
}
