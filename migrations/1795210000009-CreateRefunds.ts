import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Refunds. */
export class CreateRefunds1795210000009 implements MigrationInterface {
  readonly name = 'CreateRefunds1795210000009';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "refund" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "payment_id" character varying(40) COLLATE "C" NOT NULL,
          "amount" bigint NOT NULL,
          "currency" character(3) NOT NULL,
          "status" character varying(20) NOT NULL,
          "reason" character varying(500),
          "idempotency_key" character varying(255) COLLATE "C",
          "failure_code" character varying(100),
          "metadata" jsonb NOT NULL,
          "due_at" TIMESTAMP(3) WITH TIME ZONE,
          "attempts" integer NOT NULL DEFAULT '0',
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "refund_idempotency_key_unique" UNIQUE ("idempotency_key"),
          CONSTRAINT "refund_due_check" CHECK (("due_at" IS NOT NULL) = ("status" = 'pending')),
          CONSTRAINT "refund_failure_check" CHECK (
              ("status" = 'failed') = ("failure_code" IS NOT NULL)
          ),
          CONSTRAINT "refund_status_check" CHECK (
              "status" IN ('pending', 'succeeded', 'failed', 'canceled')
          ),
          CONSTRAINT "refund_amount_check" CHECK (
              "amount" >= 1
              AND "amount" <= 9007199254740991
          ),
          CONSTRAINT "refund_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "refund_due_index" ON "refund" ("due_at")
      WHERE "due_at" IS NOT NULL
    `);
    await queryRunner.query(`
      CREATE INDEX "refund_payment_index" ON "refund" ("payment_id", "id")
    `);
    await queryRunner.query(`
      ALTER TABLE "refund"
      ADD CONSTRAINT "refund_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "refund"');
  }
}
