import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The ledger: append-only and always balanced. */
export class CreateLedger1795220000004 implements MigrationInterface {
  readonly name = 'CreateLedger1795220000004';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "ledger_transaction" (
          "id" character varying(40) COLLATE "C" NOT NULL,
          "kind" character varying(20) NOT NULL,
          "source_id" character varying(40) COLLATE "C" NOT NULL,
          "customer_id" character varying(40) COLLATE "C" NOT NULL,
          "currency" character(3) NOT NULL,
          "occurred_at" TIMESTAMP(3) WITH TIME ZONE NOT NULL,
          CONSTRAINT "ledger_transaction_source_unique" UNIQUE ("source_id", "kind"),
          CONSTRAINT "ledger_transaction_kind_check" CHECK (
              "kind" IN (
                  'invoice_finalized',
                  'payment',
                  'refund',
                  'credit_note',
                  'void',
                  'write_off',
                  'recovery',
                  'revenue_release'
              )
          ),
          CONSTRAINT "ledger_transaction_pkey" PRIMARY KEY ("id"),
          CONSTRAINT "ledger_transaction_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customer" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION
      )
    `);
    await queryRunner.query(`
      CREATE INDEX "ledger_transaction_customer_index" ON "ledger_transaction" ("customer_id", "id")
    `);
    await queryRunner.query(`
      CREATE TABLE "ledger_posting" (
          "transaction_id" character varying(40) COLLATE "C" NOT NULL,
          "position" integer NOT NULL,
          "account" character varying(60) COLLATE "C" NOT NULL,
          "amount_minor" bigint NOT NULL,
          CONSTRAINT "ledger_posting_position_check" CHECK ("position" >= 1),
          CONSTRAINT "ledger_posting_amount_check" CHECK ("amount_minor" <> 0),
          CONSTRAINT "ledger_posting_pkey" PRIMARY KEY ("transaction_id", "position"),
          CONSTRAINT "ledger_posting_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "ledger_transaction" ("id") ON DELETE NO ACTION ON UPDATE NO ACTION
      )
    `);
    await this.refuseChanges(queryRunner);
    await this.refuseImbalance(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE "ledger_posting"');
    await queryRunner.query('DROP TABLE "ledger_transaction"');
    await queryRunner.query('DROP FUNCTION "ledger_refuse_imbalance"');
    await queryRunner.query('DROP FUNCTION "ledger_refuse_change"');
  }

  private async refuseChanges(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION "ledger_refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
          USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ledger_append_only';
      END
      $$
    `);
    for (const table of ['ledger_transaction', 'ledger_posting']) {
      await queryRunner.query(`
        CREATE TRIGGER "${table}_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "${table}"
        FOR EACH STATEMENT EXECUTE FUNCTION "ledger_refuse_change"()
      `);
    }
  }

  /**
   * Refuses transactions that do not balance. Checks at the commit, because a transaction is inserted before its
   * postings.
   */
  private async refuseImbalance(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION "ledger_refuse_imbalance"() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        checked varchar := to_jsonb(NEW) ->> TG_ARGV[0];
        balance numeric;
      BEGIN
        SELECT sum(amount_minor) INTO balance FROM ledger_posting WHERE transaction_id = checked;
        IF balance IS DISTINCT FROM 0 THEN
          RAISE EXCEPTION 'the ledger transaction % does not balance: %', checked, coalesce(balance::text, 'no postings')
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ledger_balanced';
        END IF;
        RETURN NULL;
      END
      $$
    `);
    for (const [table, column] of [
      ['ledger_transaction', 'id'],
      ['ledger_posting', 'transaction_id'],
    ]) {
      await queryRunner.query(`
        CREATE CONSTRAINT TRIGGER "${table}_balanced" AFTER INSERT ON "${table}"
        DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION "ledger_refuse_imbalance"('${column}')
      `);
    }
  }
}
