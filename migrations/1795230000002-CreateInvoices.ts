import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Invoices, their lines and numbers, and the credit of customers. */
export class CreateInvoices1795230000002 implements MigrationInterface {
  readonly name = 'CreateInvoices1795230000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "credit_grant" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "currency" character(3) NOT NULL,
          "amount" bigint NOT NULL,
          "remaining" bigint NOT NULL,
          "source_id" character varying(40) COLLATE "C" NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "credit_grant_remaining_check" CHECK ("remaining" >= 0 AND "remaining" <= "amount"),
          CONSTRAINT "credit_grant_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "credit_grant_customer_index" ON "credit_grant" ("customer_id", "created_at", "id")
      WHERE "remaining" > 0
    `);
    await queryRunner.query(`
      CREATE TABLE "invoice_line" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "invoice_id" character varying(40) COLLATE "C" NOT NULL,
          "position" integer NOT NULL,
          "kind" character varying(20) NOT NULL,
          "description" character varying(500) NOT NULL,
          "quantity" numeric,
          "unit_amount" numeric,
          "amount" bigint NOT NULL,
          "discount" bigint NOT NULL,
          "net" bigint NOT NULL,
          "tax" bigint NOT NULL,
          "price_id" character varying(40) COLLATE "C",
          "item_id" character varying(40) COLLATE "C",
          "period_start_at" TIMESTAMP(3) WITH TIME ZONE,
          "period_end_at" TIMESTAMP(3) WITH TIME ZONE,
          "full_period_start_at" TIMESTAMP(3) WITH TIME ZONE,
          "full_period_end_at" TIMESTAMP(3) WITH TIME ZONE,
          "proration_numerator" bigint,
          "proration_denominator" bigint,
          "proration_unit" character varying(10),
          "time_zone" character varying(64),
          "is_in_advance" boolean NOT NULL,
          "is_released" boolean NOT NULL,
          "credits_line_id" character varying(40) COLLATE "C",
          "credited" bigint NOT NULL,
          "credited_net" bigint NOT NULL,
          "credited_tax_shares" jsonb NOT NULL,
          "tax_rate_ids" character varying(40) array NOT NULL,
          "tax_shares" jsonb NOT NULL,
          "discount_shares" jsonb NOT NULL,
          "trace" jsonb NOT NULL,
          CONSTRAINT "invoice_line_position_unique" UNIQUE ("invoice_id", "position"),
          CONSTRAINT "invoice_line_period_check" CHECK ("period_start_at" <= "period_end_at"),
          CONSTRAINT "invoice_line_proration_check" CHECK (("proration_numerator" IS NULL) = ("proration_denominator" IS NULL) AND "proration_numerator" >= 0 AND "proration_numerator" <= "proration_denominator"),
          CONSTRAINT "invoice_line_discount_check" CHECK ("discount" = 0 OR ("discount" > 0 AND "discount" <= "amount")),
          CONSTRAINT "invoice_line_kind_check" CHECK ("kind" IN ('recurring', 'usage', 'proration', 'one_off', 'credit', 'minimum', 'maximum')),
          CONSTRAINT "invoice_line_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "invoice_line_item_index" ON "invoice_line" ("item_id", "period_end_at")
      WHERE "item_id" IS NOT NULL
    `);
    await queryRunner.query(`
      CREATE TABLE "invoice_series" (
          "name" character varying(40) NOT NULL,
          "next_number" bigint NOT NULL,
          CONSTRAINT "invoice_series_next_check" CHECK ("next_number" >= 1),
          CONSTRAINT "invoice_series_pkey" PRIMARY KEY ("name")
      )
    `);
    await queryRunner.query(`
      CREATE TABLE "invoice" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "number" character varying(40),
          "status" character varying(20) NOT NULL,
          "reason" character varying(20) NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "subscription_id" character varying(40) COLLATE "C",
          "renews_at" TIMESTAMP(3) WITH TIME ZONE,
          "currency" character(3) NOT NULL,
          "period_start_at" TIMESTAMP(3) WITH TIME ZONE,
          "period_end_at" TIMESTAMP(3) WITH TIME ZONE,
          "subtotal" bigint NOT NULL,
          "discount" bigint NOT NULL,
          "tax" bigint NOT NULL,
          "inclusive_tax" bigint NOT NULL,
          "total" bigint NOT NULL,
          "credit_applied" bigint NOT NULL,
          "credited_to_balance" bigint NOT NULL,
          "amount_due" bigint NOT NULL,
          "amount_paid" bigint NOT NULL,
          "amount_credited" bigint NOT NULL,
          "tax_treatment" character varying(10) NOT NULL,
          "tax_rates" jsonb NOT NULL,
          "coupons" jsonb NOT NULL,
          "credits" jsonb NOT NULL,
          "collection" character varying(20) NOT NULL,
          "days_until_due" integer NOT NULL,
          "due_at" TIMESTAMP(3) WITH TIME ZONE,
          "finalized_at" TIMESTAMP(3) WITH TIME ZONE,
          "paid_at" TIMESTAMP(3) WITH TIME ZONE,
          "voided_at" TIMESTAMP(3) WITH TIME ZONE,
          "uncollectible_at" TIMESTAMP(3) WITH TIME ZONE,
          "metadata" jsonb NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "invoice_renewal_unique" UNIQUE ("subscription_id", "renews_at"),
          CONSTRAINT "invoice_number_unique" UNIQUE ("number"),
          CONSTRAINT "invoice_paid_check" CHECK ("amount_paid" >= 0 AND "amount_credited" >= 0 AND "amount_paid" + "amount_credited" <= "amount_due"),
          CONSTRAINT "invoice_due_check" CHECK ("total" = "amount_due" + "credit_applied" - "credited_to_balance" AND "amount_due" >= 0 AND "credit_applied" >= 0 AND "credited_to_balance" >= 0),
          CONSTRAINT "invoice_total_check" CHECK ("total" = "subtotal" - "discount" + "tax"),
          CONSTRAINT "invoice_number_check" CHECK (("status" = 'draft') = ("number" IS NULL)),
          CONSTRAINT "invoice_status_check" CHECK ("status" IN ('draft', 'open', 'paid', 'void', 'uncollectible')),
          CONSTRAINT "invoice_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "invoice_subscription_index" ON "invoice" ("subscription_id", "id")
    `);
    await queryRunner.query(`
      CREATE INDEX "invoice_customer_index" ON "invoice" ("customer_id", "id")
    `);
    await queryRunner.query(`
      ALTER TABLE "credit_grant"
      ADD CONSTRAINT "credit_grant_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "invoice_line"
      ADD CONSTRAINT "invoice_line_invoice_id_fkey" FOREIGN KEY ("invoice_id") REFERENCES "invoice"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "invoice_line"
      ADD CONSTRAINT "invoice_line_credits_line_id_fkey" FOREIGN KEY ("credits_line_id") REFERENCES "invoice_line"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "invoice"
      ADD CONSTRAINT "invoice_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "invoice_line"');
    await queryRunner.query('DROP TABLE "invoice"');
    await queryRunner.query('DROP TABLE "invoice_series"');
    await queryRunner.query('DROP TABLE "credit_grant"');
  }
}
