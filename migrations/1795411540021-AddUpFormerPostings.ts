import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the postings that the triggers have not counted: the sum of all postings, less the totals in the same snapshot.
 * A posting that commits meanwhile is in both sums or in neither. Blocks no writers. A second run adds nothing.
 */
export class AddUpFormerPostings1795411540021 implements MigrationInterface {
  readonly name = 'AddUpFormerPostings1795411540021';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      WITH former AS (
        SELECT account, currency, sum(amount) AS amount_minor, sum(postings) AS postings
        FROM (
          SELECT posting.account, posted.currency, sum(posting.amount_minor) AS amount, count(*) AS postings
          FROM ledger_posting AS posting JOIN ledger_transaction AS posted ON posted.id = posting.transaction_id
          GROUP BY 1, 2
          UNION ALL
          SELECT account, currency, -sum(amount_minor), -sum(postings) FROM ledger_total GROUP BY 1, 2
        ) AS change
        GROUP BY 1, 2
      )
      INSERT INTO ledger_total (account, currency, part, amount_minor, postings)
      SELECT account, currency, -1, amount_minor, postings FROM former WHERE amount_minor <> 0 OR postings <> 0
      ON CONFLICT DO NOTHING
    `);
  }

  async down(): Promise<void> {
    // The table goes with the migration that made it.
  }
}
