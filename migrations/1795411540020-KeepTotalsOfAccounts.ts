import type { MigrationInterface, QueryRunner } from 'typeorm';

const SIDES = { add: ['INSERT', 'NEW', ''], subtract: ['DELETE', 'OLD', '-'] } as const;

/**
 * Keeps the total of every account, so that a request for the accounts need not sum up all postings. Triggers keep it,
 * because processes of the previous release also post; they fire even in sessions that switch triggers off. Each
 * session has its own rows (`part`), so that transactions that post to the same accounts do not wait for each other.
 * The next migration adds the postings that already exist.
 */
export class KeepTotalsOfAccounts1795411540020 implements MigrationInterface {
  readonly name = 'KeepTotalsOfAccounts1795411540020';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE "ledger_total" (
          "account" character varying(60) COLLATE "C" NOT NULL,
          "currency" character(3) NOT NULL,
          "part" integer NOT NULL,
          "amount_minor" numeric NOT NULL,
          "postings" bigint NOT NULL,
          CONSTRAINT "ledger_total_pkey" PRIMARY KEY ("account", "currency", "part")
      ) WITH (fillfactor = 50)
    `);
    for (const [name, [operation, rows, sign]] of Object.entries(SIDES)) {
      await queryRunner.query(`
        CREATE FUNCTION "ledger_total_${name}"() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO ledger_total AS total (account, currency, part, amount_minor, postings)
          SELECT changed.account, posted.currency, pg_backend_pid() % 1024, ${sign}sum(changed.amount_minor), ${sign}count(*)
          FROM changed JOIN ledger_transaction AS posted ON posted.id = changed.transaction_id
          GROUP BY 1, 2 ORDER BY 1, 2
          ON CONFLICT (account, currency, part) DO UPDATE SET
            amount_minor = total.amount_minor + excluded.amount_minor,
            postings = total.postings + excluded.postings;
          RETURN NULL;
        END
        $$
      `);
      await queryRunner.query(`
        CREATE TRIGGER "ledger_posting_total_${name}" AFTER ${operation} ON "ledger_posting"
        REFERENCING ${rows} TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION "ledger_total_${name}"()
      `);
      await queryRunner.query(
        `ALTER TABLE "ledger_posting" ENABLE ALWAYS TRIGGER "ledger_posting_total_${name}"`,
      );
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of Object.keys(SIDES)) {
      await queryRunner.query(`DROP TRIGGER "ledger_posting_total_${name}" ON "ledger_posting"`);
      await queryRunner.query(`DROP FUNCTION "ledger_total_${name}"`);
    }
    await queryRunner.query('DROP TABLE "ledger_total"');
  }
}
