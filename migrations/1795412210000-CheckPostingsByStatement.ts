import type { MigrationInterface, QueryRunner } from 'typeorm';

const COUNTED = `changed.account, posted.currency, pg_backend_pid() % 1024, sum(changed.amount_minor), count(*)`;
const TRANSACTIONS = {
  joined: 'JOIN ledger_transaction AS posted ON posted.id = changed.transaction_id',
  lookedUp: `CROSS JOIN LATERAL (
            SELECT currency FROM ledger_transaction WHERE id = changed.transaction_id LIMIT 1) AS posted`,
} as const;

/**
 * Checks new postings once for each statement. Before, each posting caused a check, so that a transaction with four
 * postings was summed up five times. At the commit, each new transaction is still summed up, because several statements
 * may write its postings. Postings that a statement adds to an older transaction must balance by themselves.
 *
 * The function that keeps the totals of accounts now looks up each transaction. With a join, a plan that was cached
 * while the table was small would read the whole table.
 */
export class CheckPostingsByStatement1795412210000 implements MigrationInterface {
  readonly name = 'CheckPostingsByStatement1795412210000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE FUNCTION "ledger_refuse_unbalanced_postings"() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        checked varchar;
        balance numeric;
      BEGIN
        SELECT transaction_id, added INTO checked, balance
        FROM (
          SELECT transaction_id, sum(amount_minor) AS added FROM changed
          GROUP BY transaction_id HAVING sum(amount_minor) <> 0) AS unbalanced
        WHERE NOT EXISTS (
          SELECT FROM ledger_transaction WHERE id = transaction_id AND xmin = pg_current_xact_id()::xid)
        LIMIT 1;
        IF FOUND THEN
          RAISE EXCEPTION 'the ledger transaction % does not balance: %', checked, balance
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ledger_balanced';
        END IF;
        RETURN NULL;
      END
      $$
    `);
    await queryRunner.query(`
      CREATE TRIGGER "ledger_posting_unbalanced" AFTER INSERT ON "ledger_posting"
      REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION "ledger_refuse_unbalanced_postings"()
    `);
    await queryRunner.query('DROP TRIGGER "ledger_posting_balanced" ON "ledger_posting"');
    await this.refuseImbalance(queryRunner, 'NEW.id');
    await this.keepTotals(queryRunner, 'lookedUp');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await this.keepTotals(queryRunner, 'joined');
    await this.refuseImbalance(queryRunner, 'to_jsonb(NEW) ->> TG_ARGV[0]');
    await queryRunner.query(`
      CREATE CONSTRAINT TRIGGER "ledger_posting_balanced" AFTER INSERT ON "ledger_posting"
      DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION "ledger_refuse_imbalance"('transaction_id')
    `);
    await queryRunner.query('DROP TRIGGER "ledger_posting_unbalanced" ON "ledger_posting"');
    await queryRunner.query('DROP FUNCTION "ledger_refuse_unbalanced_postings"');
  }

  private async refuseImbalance(queryRunner: QueryRunner, checked: string): Promise<void> {
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION "ledger_refuse_imbalance"() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        checked varchar := ${checked};
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
  }

  private async keepTotals(
    queryRunner: QueryRunner,
    found: keyof typeof TRANSACTIONS,
  ): Promise<void> {
    await queryRunner.query(`
      CREATE OR REPLACE FUNCTION "ledger_total_add"() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO ledger_total AS total (account, currency, part, amount_minor, postings)
        SELECT ${COUNTED}
        FROM changed ${TRANSACTIONS[found]}
        GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (account, currency, part) DO UPDATE SET
          amount_minor = total.amount_minor + excluded.amount_minor,
          postings = total.postings + excluded.postings;
        RETURN NULL;
      END
      $$
    `);
  }
}
