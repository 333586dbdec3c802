import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Refunds that were made at a provider and wait: they cannot be recorded until their payment changes. */
export class KeepWaitingRefunds1795510000000 implements MigrationInterface {
  readonly name = 'KeepWaitingRefunds1795510000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "waiting_refund" (
        "payment_id" character varying(40) COLLATE "C" NOT NULL,
        "reference" character varying(255) NOT NULL,
        "refund_id" character varying(40) COLLATE "C",
        "amount" bigint NOT NULL,
        "reason" character varying(500),
        "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
        CONSTRAINT "waiting_refund_pkey" PRIMARY KEY ("payment_id", "reference"),
        CONSTRAINT "waiting_refund_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id"),
        CONSTRAINT "waiting_refund_amount_check" CHECK ("amount" >= 1 AND "amount" <= 9007199254740991)
      )
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "waiting_refund"');
  }
}
