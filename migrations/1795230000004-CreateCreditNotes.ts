import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Credit notes. */
export class CreateCreditNotes1795230000004 implements MigrationInterface {
  readonly name = 'CreateCreditNotes1795230000004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "credit_note" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "version" integer NOT NULL,
          "number" character varying(40) NOT NULL,
          "status" character varying(10) NOT NULL,
          "invoice_id" character varying(40) COLLATE "C" NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "currency" character(3) NOT NULL,
          "reason" character varying(500) NOT NULL,
          "settle" character varying(10) NOT NULL,
          "net" bigint NOT NULL,
          "tax" bigint NOT NULL,
          "total" bigint NOT NULL,
          "deferred" bigint NOT NULL,
          "to_receivable" bigint NOT NULL,
          "to_credit" bigint NOT NULL,
          "to_refund" bigint NOT NULL,
          "credit_id" character varying(40) COLLATE "C",
          "lines" jsonb NOT NULL,
          "voided_at" TIMESTAMP(3) WITH TIME ZONE,
          "created_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          "updated_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "credit_note_number_unique" UNIQUE ("number"),
          CONSTRAINT "credit_note_total_check" CHECK (
              "total" = "net" + "tax"
              AND "total" = "to_receivable" + "to_credit" + "to_refund"
              AND "net" > 0
          ),
          CONSTRAINT "credit_note_settle_check" CHECK ("settle" IN ('credit', 'refund')),
          CONSTRAINT "credit_note_void_check" CHECK (("status" = 'void') = ("voided_at" IS NOT NULL)),
          CONSTRAINT "credit_note_status_check" CHECK ("status" IN ('issued', 'void')),
          CONSTRAINT "credit_note_pkey" PRIMARY KEY ("id")
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "credit_note_invoice_index" ON "credit_note" ("invoice_id", "id")
    `);
    await queryRunner.query(`
      ALTER TABLE "credit_note"
      ADD CONSTRAINT "credit_note_invoice_id_fkey" FOREIGN KEY ("invoice_id") REFERENCES "invoice"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
    await queryRunner.query(`
      ALTER TABLE "credit_note"
      ADD CONSTRAINT "credit_note_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "credit_note"');
  }
}
