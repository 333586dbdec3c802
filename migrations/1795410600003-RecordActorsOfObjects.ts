import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Columns that name the principal that created a payment or a credit note, or that voided an invoice or a credit note. */
const COLUMNS = [
  ['payment', 'actor'],
  ['credit_note', 'actor'],
  ['credit_note', 'voided_by'],
  ['invoice', 'voided_by'],
] as const;

export class RecordActorsOfObjects1795410600003 implements MigrationInterface {
  readonly name = 'RecordActorsOfObjects1795410600003';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, column] of COLUMNS) {
      await queryRunner.query(
        `ALTER TABLE "${table}" ADD COLUMN "${column}" character varying(40) COLLATE "C"`,
      );
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [table, column] of COLUMNS) {
      await queryRunner.query(`ALTER TABLE "${table}" DROP COLUMN "${column}"`);
    }
  }
}
