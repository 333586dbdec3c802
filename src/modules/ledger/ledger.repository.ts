import { Injectable } from '@nestjs/common';
import type { LedgerAccount, Posting } from '../../core/ledger';
import { InvariantError } from '../../core/invariant';
import { MAX_AHEAD_MS } from '../../core/next-version';
import {
  Database,
  idTime,
  type Page,
  ListQuery,
  type PageRequest,
  Reports,
  violatedConstraint,
} from '../../platform/database';
import {
  type AccountBalance,
  MAX_OFFENDING,
  type PostedTransaction,
  type SummedRows,
  type TransactionFilter,
} from './domain/posted-transaction';
import { firstIdAt } from '../../platform/ids';
import { LedgerPostingEntity } from './ledger-posting.entity';
import { LedgerTransactionEntity } from './ledger-transaction.entity';

const INSERT = `
  WITH made AS (
    INSERT INTO ledger_transaction (id, kind, source_id, source_version, customer_id, currency, occurred_at)
    SELECT * FROM unnest(
      $1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::timestamptz[]))
  INSERT INTO ledger_posting (transaction_id, position, account, amount_minor)
  SELECT * FROM unnest($8::text[], $9::integer[], $10::text[], $11::bigint[])`;

/**
 * Selects the latest `occurred_at` after `$3` and up to `$4`, by customer. Ids contain the creation time, so the
 * condition on the id limits the index scan to the last minute.
 */
const LATEST_AFTER = `
  SELECT customer_id, max(occurred_at) AS occurred_at FROM ledger_transaction
  WHERE customer_id = ANY ($1) AND ${idTime('id')} >= ${idTime('$2::varchar')} AND occurred_at > $3 AND occurred_at <= $4
  GROUP BY customer_id`;

const BALANCES = `
  SELECT account, currency, sum(amount_minor)::text AS amount
  FROM ledger_posting JOIN ledger_transaction ON id = transaction_id
  WHERE ($1::varchar IS NULL OR customer_id = $1)
    AND ($2::timestamptz IS NULL OR occurred_at < $2)
  GROUP BY account, currency ORDER BY account, currency`;

const TOTALS = `
  SELECT account, currency, sum(amount_minor)::text AS amount
  FROM ledger_total
  GROUP BY account, currency HAVING sum(postings) > 0 ORDER BY account, currency`;

/**
 * Finds accounts with a wrong running total in a currency: its amount or its count of postings does not match the
 * postings.
 */
export const WRONG_TOTALS = `
  SELECT account || ' ' || currency || ': kept ' || sum(kept) || ', posted ' || sum(posted) AS id
  FROM (
    SELECT account, currency::text AS currency, amount_minor AS kept, 0 AS posted, postings FROM ledger_total
    UNION ALL
    SELECT account, currency::text, 0, amount_minor, -1
    FROM ledger_posting JOIN ledger_transaction ON id = transaction_id
  ) AS row
  GROUP BY account, currency HAVING sum(kept) <> sum(posted) OR sum(postings) <> 0
  ORDER BY 1 LIMIT $1`;

/** `$2` is the id of the first transaction to check; an empty text selects all. */
const UNBALANCED = `
  SELECT id FROM ledger_transaction LEFT JOIN ledger_posting ON transaction_id = id
  WHERE id >= $2
  GROUP BY id HAVING count(transaction_id) = 0 OR sum(amount_minor) <> 0 ORDER BY id LIMIT $1`;

const ORPHANED = `
  SELECT DISTINCT transaction_id AS id FROM ledger_posting
  WHERE transaction_id >= $2 AND NOT EXISTS (SELECT FROM ledger_transaction WHERE id = transaction_id)
  ORDER BY 1 LIMIT $1`;

const POSTS_TO = `EXISTS (
  SELECT FROM ledger_posting WHERE transaction_id = ledger_transaction.id AND account = $)`;

/**
 * Returns SQL that sums both sides by key and currency, and selects those whose sums differ.
 * @param customers SQL condition on `customer_id` that limits the rows of both sides
 */
const differences = (left: SummedRows, right: SummedRows, customers: string): string => `
  SELECT key, currency, sum(left_amount)::text AS "left", sum(right_amount)::text AS "right"
  FROM (
    ${[
      ...left.sql.map((sql) => amountsOf(sql, 'amount', '0', customers)),
      ...right.sql.map((sql) => amountsOf(sql, '0', 'amount', customers)),
    ].join(' UNION ALL ')}
  ) AS amounts
  GROUP BY key, currency HAVING sum(left_amount) <> sum(right_amount)
  ORDER BY key, currency LIMIT $1`;

const ALL_CUSTOMERS = '$2::text IS NULL';
const POSTED_SINCE =
  'customer_id IN (SELECT customer_id FROM ledger_transaction WHERE id >= $2::text)';

const amountsOf = (sql: string, left: string, right: string, customers: string): string => `
  SELECT key, currency::text AS currency, ${left}::bigint AS left_amount, ${right}::bigint AS right_amount
  FROM (${sql}) AS row WHERE ${customers}`;

/** Statement timeout of five minutes, because reading the whole ledger takes longer than any other request. */
const MORE_TIME = { statementMs: 300_000 };

interface AccountRow {
  readonly account: LedgerAccount;
  readonly currency: string;
  readonly amount: string;
}

type TransactionRow = Omit<PostedTransaction, 'postings'>;

@Injectable()
export class LedgerRepository {
  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
  ) {}

  async insertAll(transactions: readonly PostedTransaction[]): Promise<void> {
    this.database.requireTransaction();
    if (transactions.length === 0) return;
    const postings = transactions.flatMap(({ id, postings: posted }) =>
      posted.map((posting, index) => ({ id, position: index + 1, ...posting })),
    );
    try {
      await this.database.queryPrepared('post-ledger-transactions', INSERT, [
        transactions.map(({ id }) => id),
        transactions.map(({ kind }) => kind),
        transactions.map(({ sourceId }) => sourceId),
        transactions.map(({ sourceVersion = 0 }) => sourceVersion),
        transactions.map(({ customerId }) => customerId),
        transactions.map(({ currency }) => currency),
        transactions.map(({ occurredAt }) => occurredAt),
        postings.map(({ id }) => id),
        postings.map(({ position }) => position),
        postings.map(({ account }) => account),
        postings.map(({ amountMinor }) => amountMinor.toString()),
      ]);
    } catch (error) {
      if (violatedConstraint(error) === 'ledger_transaction_source_unique') {
        const posts = transactions.map(({ sourceId, kind }) => `${sourceId} posts its ${kind}`);
        throw new InvariantError(`${posts.join(', ')} once.`);
      }
      throw error;
    }
  }

  /**
   * Returns, by customer, the latest date of a transaction that is after `now` by at most a minute. Reads only
   * transactions that were created in the last minute.
   */
  async latestAfter(customerIds: readonly string[], now: Date): Promise<ReadonlyMap<string, Date>> {
    if (customerIds.length === 0) return new Map();
    const since = new Date(now.getTime() - MAX_AHEAD_MS);
    const until = new Date(now.getTime() + MAX_AHEAD_MS);
    const rows = await this.database.query<{ customer_id: string; occurred_at: Date }>(
      LATEST_AFTER,
      [customerIds, firstIdAt('ltx', since), now, until],
    );
    return new Map(rows.map(({ customer_id: id, occurred_at: at }) => [id, at]));
  }

  async page(filter: TransactionFilter, request: PageRequest): Promise<Page<PostedTransaction>> {
    const { items, next } = await new ListQuery('ledger_transaction', 'time')
      .where('customer_id = $', filter.customerId)
      .where('source_id = $', filter.sourceId)
      .whereUnindexed(POSTS_TO, filter.account)
      .where('currency = $', filter.currency)
      .whereOneOf('kind', filter.kinds)
      .whereBetween('occurred_at', filter.occurred)
      .page(this.database, LedgerTransactionEntity, request);
    return { items: await this.withPostings(items), next };
  }

  async findBySource(sourceId: string): Promise<readonly PostedTransaction[]> {
    return this.withPostings(
      await this.database.select(LedgerTransactionEntity, 'WHERE source_id = $1 ORDER BY id', [
        sourceId,
      ]),
    );
  }

  async balances(
    customerId: string | null,
    before: Date | null,
  ): Promise<readonly AccountBalance[]> {
    const rows = await this.balanceRows(customerId, before);
    return rows.map(({ account, currency, amount }) => ({
      account,
      currency,
      amountMinor: BigInt(amount),
    }));
  }

  /** Returns the ids or short texts that a statement finds. The statement gets the maximum number of rows as `$1`. */
  findViolations(sql: string): Promise<readonly string[]> {
    return this.idsOf(sql, []);
  }

  /**
   * Returns ids of transactions whose postings do not sum to zero, and of transactions without postings.
   * @param since id of the first transaction to check; null: all
   */
  findUnbalanced(since: string | null): Promise<readonly string[]> {
    return this.idsOf(UNBALANCED, [since ?? '']);
  }

  /**
   * Returns ids of missing transactions: postings refer to them, but they do not exist.
   * @param since first id to check; null: all
   */
  findOrphaned(since: string | null): Promise<readonly string[]> {
    return this.idsOf(ORPHANED, [since ?? '']);
  }

  /**
   * Returns a text for each key and currency whose sums differ, with both sums in minor units.
   * @param since limits the rows to customers who have the transaction with this id or a later one; null: all customers
   */
  async findDifferences(
    left: SummedRows,
    right: SummedRows,
    since: string | null,
  ): Promise<readonly string[]> {
    const sql = differences(left, right, since === null ? ALL_CUSTOMERS : POSTED_SINCE);
    const rows = await this.database.query<{
      readonly key: string;
      readonly currency: string;
      readonly left: string;
      readonly right: string;
    }>(sql, [MAX_OFFENDING, since]);
    return rows.map(
      (row) => `${row.key} ${row.currency}: ${left.name} ${row.left}, ${right.name} ${row.right}`,
    );
  }

  async extendTimeouts(): Promise<void> {
    await this.database.setTransactionTimeouts(MORE_TIME);
  }

  private balanceRows(
    customerId: string | null,
    before: Date | null,
  ): Promise<readonly AccountRow[]> {
    if (customerId !== null) return this.database.query(BALANCES, [customerId, before]);
    if (before === null) return this.database.query(TOTALS);
    return this.reports.query('analytics', BALANCES, [customerId, before]);
  }

  private idsOf(sql: string, parameters: readonly string[]): Promise<readonly string[]> {
    return this.database.queryValues<string>(sql, [MAX_OFFENDING, ...parameters]);
  }

  private async withPostings(
    rows: readonly TransactionRow[],
  ): Promise<readonly PostedTransaction[]> {
    if (rows.length === 0) return [];
    const ofTransactions = 'WHERE transaction_id = ANY ($1) ORDER BY position';
    const ids = rows.map(({ id }) => id);
    const found = await this.database.select(LedgerPostingEntity, ofTransactions, [ids]);
    const byTransaction = new Map<string, Posting[]>(rows.map(({ id }) => [id, []]));
    for (const { transactionId, account, amountMinor } of found) {
      byTransaction.get(transactionId)?.push({ account, amountMinor });
    }
    return rows.map((row) => ({ ...row, postings: byTransaction.get(row.id) ?? [] }));
  }
}
