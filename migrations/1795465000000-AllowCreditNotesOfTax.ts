import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Allows credit notes that credit only tax. All stored credit notes satisfy the new constraint, which allows more than
 * the old one.
 */
export class AllowCreditNotesOfTax1795465000000 implements MigrationInterface {
  readonly name = 'AllowCreditNotesOfTax1795465000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(constraint('("net" > 0 OR ("net" = 0 AND "tax" > 0))'));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(constraint('"net" > 0'));
  }
}

function constraint(net: string): string {
  return `
    ALTER TABLE "credit_note"
      DROP CONSTRAINT "credit_note_total_check",
      ADD CONSTRAINT "credit_note_total_check" CHECK (
        "total" = "net" + "tax" AND "total" = "to_receivable" + "to_credit" + "to_refund" AND ${net}
      ) NOT VALID
  `;
}
