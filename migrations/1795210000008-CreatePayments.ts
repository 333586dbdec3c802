import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Payments, and the records of the simulated gateway. */
export class CreatePayments1795210000008 implements MigrationInterface {
  readonly name = 'CreatePayments1795210000008';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "payment" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "amount" bigint NOT NULL,
          "currency" character(3) NOT NULL,
          "status" character varying(20) NOT NULL,
          "amount_refunded" bigint NOT NULL DEFAULT '0',
          "amount_refund_pending" bigint NOT NULL DEFAULT '0',
          "provider" character varying(20) NOT NULL,
          "payment_method_id" character varying(255),
          "provider_reference" character varying(255),
          "failure_code" character varying(100),
          "metadata" jsonb NOT NULL,
          "due_at" TIMESTAMP(3) WITH TIME ZONE,
          "attempts" integer NOT NULL DEFAULT '0',
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "payment_due_check" CHECK (
              ("due_at" IS NULL) = ("status" IN ('succeeded', 'failed', 'canceled'))
          ),
          CONSTRAINT "payment_failure_check" CHECK (
              ("status" = 'failed') = ("failure_code" IS NOT NULL)
          ),
          CONSTRAINT "payment_refunded_status_check" CHECK (
              "status" = 'succeeded'
              OR "amount_refunded" + "amount_refund_pending" = 0
          ),
          CONSTRAINT "payment_refunds_check" CHECK (
              "amount_refunded" >= 0
              AND "amount_refund_pending" >= 0
              AND "amount_refunded" + "amount_refund_pending" <= "amount"
          ),
          CONSTRAINT "payment_amount_check" CHECK (
              "amount" >= 1
              AND "amount" <= 9007199254740991
          ),
          CONSTRAINT "payment_status_check" CHECK (
              "status" IN (
                  'pending',
                  'processing',
                  'requires_action',
                  'succeeded',
                  'failed',
                  'canceled'
              )
          ),
          CONSTRAINT "payment_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "payment_due_index" ON "payment" ("due_at")
      WHERE "due_at" IS NOT NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "payment_customer_index" ON "payment" ("customer_id", "id")
    `);
    await queryRunner.query(`
      CREATE TABLE "sandbox_operation" (
          "key" character varying(255) COLLATE "C" NOT NULL,
          "outcome" character varying(20) NOT NULL,
          "failure_code" character varying(100),
          "reference" character varying(255) NOT NULL,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "sandbox_operation_failure_check" CHECK (
              ("outcome" = 'failed') = ("failure_code" IS NOT NULL)
          ),
          CONSTRAINT "sandbox_operation_outcome_check" CHECK ("outcome" IN ('succeeded', 'failed', 'pending')),
          CONSTRAINT "sandbox_operation_pkey" PRIMARY KEY ("key")
      )
    `);
    await queryRunner.query(`
      ALTER TABLE "payment"
      ADD CONSTRAINT "payment_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "sandbox_operation"');
    await queryRunner.query('DROP TABLE "payment"');
  }
}
