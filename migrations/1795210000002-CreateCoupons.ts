import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Coupons. */
export class CreateCoupons1795210000002 implements MigrationInterface {
  readonly name = 'CreateCoupons1795210000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "coupon" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "code" character varying(64) NOT NULL,
          "name" character varying(200),
          "type" character varying(10) NOT NULL,
          "percent_off" numeric,
          "amount_off" bigint,
          "currency" character(3),
          "duration" character varying(10) NOT NULL,
          "duration_in_months" integer,
          "max_redemptions" integer,
          "times_redeemed" integer NOT NULL DEFAULT '0',
          "redeem_by" TIMESTAMP(3) WITH TIME ZONE,
          "plan_ids" character varying(40) array NOT NULL DEFAULT '{}',
          "is_active" boolean NOT NULL DEFAULT true,
          "metadata" jsonb NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "coupon_code_unique" UNIQUE ("code"),
          CONSTRAINT "coupon_redemptions_check" CHECK (
              "times_redeemed" >= 0
              AND "max_redemptions" > 0
              AND "times_redeemed" <= "max_redemptions"
          ),
          CONSTRAINT "coupon_duration_check" CHECK (
              "duration" IN ('once', 'repeating', 'forever')
              AND ("duration" = 'repeating') = ("duration_in_months" IS NOT NULL)
              AND "duration_in_months" > 0
          ),
          CONSTRAINT "coupon_amount_check" CHECK (
              ("type" = 'amount') = ("amount_off" IS NOT NULL)
              AND ("type" = 'amount') = ("currency" IS NOT NULL)
              AND "amount_off" > 0
          ),
          CONSTRAINT "coupon_percent_check" CHECK (
              ("type" = 'percent') = ("percent_off" IS NOT NULL)
              AND "percent_off" > 0
              AND "percent_off" <= 100
          ),
          CONSTRAINT "coupon_type_check" CHECK ("type" IN ('percent', 'amount')),
          CONSTRAINT "coupon_pkey" PRIMARY KEY ("id")
      )
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "coupon"');
  }
}
