import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tables with a customer and a currency. Each has the column of the row that must have the same ones, and the trigger
 * function.
 */
const OWNED = [
  ['refund', 'payment_id', 'refuse_other_payment'],
  ['dispute', 'payment_id', 'refuse_other_payment'],
  ['credit_note', 'invoice_id', 'refuse_other_invoice'],
] as const;

/**
 * Refuses a refund, a dispute or a credit note with another customer or currency than its payment or invoice. Uses
 * triggers, because foreign keys would need another index on payments and on invoices.
 */
export class CheckOwners1795540000003 implements MigrationInterface {
  readonly name = 'CheckOwners1795540000003';
  /** Each statement commits by itself: a transaction that locks several tables could deadlock with requests. */
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    for (const target of ['payment', 'invoice']) {
      await queryRunner.query(`
        CREATE OR REPLACE FUNCTION "refuse_other_${target}"() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF EXISTS (
            SELECT FROM ${target}
            WHERE id = NEW.${target}_id AND customer_id = NEW.customer_id AND currency = NEW.currency
          ) THEN
            RETURN NEW;
          END IF;
          RAISE EXCEPTION 'The ${target} % has another customer or currency, or does not exist', NEW.${target}_id
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
        END $$
      `);
    }
    for (const [table, column, routine] of OWNED) {
      // After the trigger refund_customer, in the order of names.
      await queryRunner.query(`
        CREATE OR REPLACE TRIGGER "${table}_owner" BEFORE INSERT OR UPDATE OF "${column}", "customer_id", "currency"
        ON "${table}" FOR EACH ROW EXECUTE FUNCTION "${routine}"()
      `);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 1000');
    for (const [table] of OWNED) {
      await queryRunner.query(`DROP TRIGGER "${table}_owner" ON "${table}"`);
    }
    await queryRunner.query('DROP FUNCTION "refuse_other_payment"');
    await queryRunner.query('DROP FUNCTION "refuse_other_invoice"');
  }
}
