import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Links an invoice to the void invoice that it regenerates. Each void invoice is regenerated at most once. */
export class ReissueInvoices1795300000004 implements MigrationInterface {
  readonly name = 'ReissueInvoices1795300000004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE "invoice"
      ADD "reissue_of_id" character varying(40) COLLATE "C",
      ADD CONSTRAINT "invoice_reissue_unique" UNIQUE ("reissue_of_id"),
      ADD CONSTRAINT "invoice_reissue_of_id_fkey" FOREIGN KEY ("reissue_of_id") REFERENCES "invoice"("id") ON DELETE NO ACTION ON UPDATE NO ACTION
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE "invoice" DROP COLUMN "reissue_of_id"');
  }
}
