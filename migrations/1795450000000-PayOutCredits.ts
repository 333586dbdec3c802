import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Records how much credit from credit notes and negative invoices each refund pays out. */
export class PayOutCredits1795450000000 implements MigrationInterface {
  readonly name = 'PayOutCredits1795450000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "credit_payout" (
        "credit_id" character varying(40) COLLATE "C" NOT NULL,
        "refund_id" character varying(40) COLLATE "C" NOT NULL,
        "payment_id" character varying(40) COLLATE "C" NOT NULL,
        "amount" bigint NOT NULL,
        "is_refunded" boolean NOT NULL DEFAULT false,
        CONSTRAINT "credit_payout_amount_check" CHECK ("amount" > 0),
        CONSTRAINT "credit_payout_credit_id_fkey" FOREIGN KEY ("credit_id") REFERENCES "credit_grant" ("id"),
        CONSTRAINT "credit_payout_pkey" PRIMARY KEY ("credit_id", "refund_id")
      )
    `);
    await queryRunner.query(
      'CREATE INDEX "credit_payout_refund_index" ON "credit_payout" ("refund_id")',
    );
    await queryRunner.query(
      'CREATE INDEX "credit_payout_payment_index" ON "credit_payout" ("payment_id")',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "credit_payout"');
  }
}
