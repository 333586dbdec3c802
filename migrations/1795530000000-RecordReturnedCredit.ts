import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Records how much of a credit note went back to the credit of payments whose money had been refunded or lost. */
export class RecordReturnedCredit1795530000000 implements MigrationInterface {
  readonly name = 'RecordReturnedCredit1795530000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "credit_return" (
        "note_id" character varying(40) COLLATE "C" NOT NULL,
        "payment_id" character varying(40) COLLATE "C" NOT NULL,
        "invoice_id" character varying(40) COLLATE "C" NOT NULL,
        "amount" bigint NOT NULL,
        CONSTRAINT "credit_return_pkey" PRIMARY KEY ("note_id", "payment_id"),
        CONSTRAINT "credit_return_note_id_fkey" FOREIGN KEY ("note_id") REFERENCES "credit_note"("id"),
        CONSTRAINT "credit_return_invoice_id_fkey" FOREIGN KEY ("invoice_id") REFERENCES "invoice"("id"),
        CONSTRAINT "credit_return_amount_check" CHECK ("amount" > 0)
      )
    `);
    await queryRunner.query(
      'CREATE INDEX "credit_return_invoice_index" ON "credit_return" ("invoice_id", "payment_id")',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "credit_return"');
  }
}
