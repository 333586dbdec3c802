import { Injectable } from '@nestjs/common';
import type { Period } from '../../core/time';
import { Database } from '../../platform/database';
import type { RevenueGroup, RevenueRow } from './domain/revenue';

/**
 * SQL expression for the plan of a ledger transaction: the id of the current plan of its subscription. The subscription
 * is found through the object that posted the transaction, such as an invoice. Null if this object has no subscription.
 */
const PLAN_OF_SOURCE = `(
  SELECT plan_id FROM subscription WHERE id = CASE split_part(source_id, '_', 1)
    WHEN 'inv' THEN (SELECT subscription_id FROM invoice WHERE invoice.id = source_id)
    WHEN 'sp' THEN (SELECT subscription_id FROM subscription_period AS period WHERE period.id = source_id)
    WHEN 'cn' THEN (
      SELECT subscription_id FROM credit_note JOIN invoice ON invoice.id = invoice_id
      WHERE credit_note.id = source_id)
    WHEN 'pay' THEN (
      SELECT subscription_id FROM payment JOIN invoice ON invoice.id = invoice_id
      WHERE payment.id = source_id)
    WHEN 'ref' THEN (
      SELECT subscription_id FROM refund JOIN payment ON payment.id = payment_id
        JOIN invoice ON invoice.id = invoice_id
      WHERE refund.id = source_id)
    WHEN 'dsp' THEN (
      SELECT subscription_id FROM dispute JOIN payment ON payment.id = payment_id
        JOIN invoice ON invoice.id = invoice_id
      WHERE dispute.id = source_id)
  END)`;

const KEYS: Readonly<Record<RevenueGroup, string>> = {
  plan: PLAN_OF_SOURCE,
  customer: 'customer_id',
  account: 'account',
};

/** Returns SQL that sums the postings to an account. With sign `-`, credits are positive; without it, debits are. */
const sumOf = (account: string, sign: '' | '-'): string =>
  `coalesce(${sign}sum(amount_minor) FILTER (WHERE account = '${account}'), 0)`;

const GROSS = sumOf('revenue', '-');
const DISCOUNTS = sumOf('discounts', '');

/**
 * Sums revenue by currency, window and group. In each currency, includes only the groups with the most revenue after
 * discounts in the whole period. The parameter `$5` is the maximum number of groups.
 */
const revenueBy = (key: string): string => `
  WITH posted AS MATERIALIZED (
    SELECT currency, width_bucket(occurred_at, $1::timestamptz[]) AS number, ${key} AS key, account, amount_minor
    FROM ledger_transaction JOIN ledger_posting ON transaction_id = ledger_transaction.id
    WHERE occurred_at >= $2 AND occurred_at < $3 AND ($4::varchar IS NULL OR currency = $4)
      AND account IN ('revenue', 'discounts', 'deferred_revenue', 'refunds', 'bad_debt', 'tax_payable')
      AND EXISTS (SELECT FROM customer WHERE customer.id = customer_id AND test_clock_id IS NULL)
  ), groups AS (
    SELECT currency, key FROM (
      SELECT currency, key,
        row_number() OVER (PARTITION BY currency ORDER BY ${GROSS} - ${DISCOUNTS} DESC, key) AS place
      FROM posted GROUP BY currency, key
    ) AS ranked WHERE place <= $5
  )
  SELECT currency, number, key, (SELECT name FROM customer WHERE id = key) AS name,
    (SELECT deleted_at IS NOT NULL FROM customer WHERE id = key) AS "isDeleted",
    ${GROSS}::text AS gross, ${DISCOUNTS}::text AS discounts, (${GROSS} - ${DISCOUNTS})::text AS earned,
    ${sumOf('deferred_revenue', '-')}::text AS deferred, ${sumOf('refunds', '')}::text AS refunds,
    ${sumOf('bad_debt', '')}::text AS "writtenOff", ${sumOf('tax_payable', '-')}::text AS tax
  FROM posted WHERE EXISTS (
    SELECT FROM groups
    WHERE groups.currency = posted.currency AND groups.key IS NOT DISTINCT FROM posted.key)
  GROUP BY currency, number, key ORDER BY currency, number, ${GROSS} - ${DISCOUNTS} DESC, key`;

/** Reads revenue from tables of other modules. */
@Injectable()
export class RevenueRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns the sums of the postings by currency, window and group. Leaves out windows without postings. Call it within
   * `Reports.run`.
   * @param windows consecutive, in ascending order
   * @param limit maximum number of groups for each currency
   */
  async within(
    windows: readonly Period[],
    currency: string | null,
    group: RevenueGroup | null,
    limit: number,
  ): Promise<readonly RevenueRow[]> {
    const starts = windows.map(({ startAt }) => startAt);
    const rows = await this.database.query<
      Omit<RevenueRow, 'period'> & { readonly number: number }
    >(revenueBy(group === null ? 'NULL::varchar' : KEYS[group]), [
      starts,
      starts[0],
      windows.at(-1)?.endAt,
      currency,
      limit,
    ]);
    return rows.flatMap(({ number, ...row }) => {
      const period = windows[number - 1];
      return period === undefined ? [] : [{ ...row, period }];
    });
  }
}
