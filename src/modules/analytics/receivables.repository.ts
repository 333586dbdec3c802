import { Injectable } from '@nestjs/common';
import { Reports } from '../../platform/database';
import type { Receivables } from './domain/receivables';

const OVERDUE = `$1::timestamptz - due_at`;

/** Sums what is still owed on invoices that are late by more than `from` and at most `to` days. */
const late = (from: number, to: number | null): string =>
  sumWhere(
    `${OVERDUE} > interval '${from} days'${to === null ? '' : ` AND ${OVERDUE} <= interval '${to} days'`}`,
  );

const sumWhere = (condition: string): string =>
  `coalesce(sum(owed) FILTER (WHERE ${condition}), 0)::text`;

const SUMS = `
  count(*)::integer AS invoices, sum(owed)::text AS total,
  ${sumWhere('due_at IS NULL OR due_at >= $1')} AS "notDue",
  ${late(0, 30)} AS "days1To30", ${late(30, 60)} AS "days31To60",
  ${late(60, 90)} AS "days61To90", ${late(90, null)} AS "over90Days"`;

/** Amounts owed now. Customers on test clocks owe nothing in real time. */
const OPEN_NOW = `
  WITH open AS (
    SELECT customer_id, currency, due_at, amount_due - amount_paid - amount_credited AS owed
    FROM invoice WHERE status = 'open' AND test_clock_id IS NULL
      AND amount_due > amount_paid + amount_credited)`;

/** Postings to receivables, by the invoice that they are about. The customer is here to be filtered before the join. */
const POSTED = `
    SELECT amount_minor, posted.customer_id, coalesce(payment.invoice_id, credit_note.invoice_id, source_id) AS invoice_id
    FROM ledger_posting
      JOIN ledger_transaction AS posted ON posted.id = transaction_id
      LEFT JOIN payment ON payment.id = source_id
      LEFT JOIN credit_note ON credit_note.id = source_id
    WHERE account = 'accounts_receivable'`;

/** The subscription of an invoice, or the invoice: credit of a later invoice lowers those of its subscription. */
const DEBT = 'coalesce(subscription_id, invoice.id)';

/** Both sides of a check: what the invoices of a subscription, or a single one, owe now as stored and as posted. */
export const OWED_STORED = `
  SELECT ${DEBT} AS key, customer_id, currency, amount_due - amount_paid - amount_credited AS amount
  FROM invoice WHERE status = 'open'`;
export const OWED_POSTED = `
  SELECT ${DEBT} AS key, posted.customer_id, currency, amount_minor AS amount
  FROM (${POSTED}) AS posted JOIN invoice ON invoice.id = invoice_id`;

/**
 * Amounts owed at $1, from the postings before it. Credit that a later invoice of a subscription gave is posted to that
 * invoice, which is negative here: it lowers the invoices of the subscription, the oldest first, as it did then.
 */
const OPEN_AT = `
  WITH posted AS (${POSTED} AND occurred_at < $1
  ), balance AS (
    SELECT invoice.id, invoice.customer_id, currency, due_at, ${DEBT} AS debt, sum(amount_minor) AS amount
    FROM posted JOIN invoice ON invoice.id = invoice_id
    WHERE test_clock_id IS NULL
    GROUP BY invoice.id HAVING sum(amount_minor) <> 0
  ), in_turn AS (
    SELECT *, -coalesce(sum(amount) FILTER (WHERE amount < 0) OVER same_debt, 0) AS credit,
      sum(greatest(amount, 0)) OVER (same_debt ORDER BY id) - amount AS older
    FROM balance WINDOW same_debt AS (PARTITION BY debt, currency)
  ), lowered AS (
    SELECT customer_id, currency, due_at, amount - least(amount, greatest(credit - older, 0)) AS owed
    FROM in_turn WHERE amount > 0
  ), open AS (SELECT * FROM lowered WHERE owed > 0)`;

const inTotal = (open: string): string => `
  ${open}
  SELECT currency, NULL AS "customerId", NULL AS "customerName", ${SUMS}
  FROM open GROUP BY currency ORDER BY currency`;

const byCustomer = (open: string): string => `
  ${open}, owing AS (
    SELECT currency, customer_id, ${SUMS},
      row_number() OVER (PARTITION BY currency ORDER BY sum(owed) DESC, customer_id) AS place
    FROM open GROUP BY currency, customer_id)
  SELECT owing.*, customer_id AS "customerId", customer.name AS "customerName"
  FROM owing JOIN customer ON customer.id = customer_id WHERE place <= $2
  ORDER BY total::numeric DESC, customer_id, owing.currency`;

/** Instant of a report, and where its amounts come from. */
export interface ReceivablesQuery {
  readonly at: Date;
  /** False: the postings before `at`. */
  readonly isNow: boolean;
}

/** Reads the tables of other modules, and writes none. */
@Injectable()
export class ReceivablesRepository {
  constructor(private readonly reports: Reports) {}

  inTotal({ at, isNow }: ReceivablesQuery): Promise<readonly Receivables[]> {
    return this.reports.query<Receivables>('analytics', inTotal(isNow ? OPEN_NOW : OPEN_AT), [at]);
  }

  /** Returns the customers that owe most of each currency. */
  byCustomer({ at, isNow }: ReceivablesQuery, most: number): Promise<readonly Receivables[]> {
    const sql = byCustomer(isNow ? OPEN_NOW : OPEN_AT);
    return this.reports.query<Receivables>('analytics', sql, [at, most]);
  }
}
