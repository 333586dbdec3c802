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

/** Customers on test clocks owe nothing in real time. */
const OPEN = `
  WITH open AS (
    SELECT customer_id, currency, due_at, amount_due - amount_paid - amount_credited AS owed
    FROM invoice WHERE status = 'open' AND test_clock_id IS NULL
      AND amount_due > amount_paid + amount_credited)`;

const IN_TOTAL = `
  ${OPEN}
  SELECT currency, NULL AS "customerId", NULL AS "customerName", ${SUMS}
  FROM open GROUP BY currency ORDER BY currency`;

const BY_CUSTOMER = `
  ${OPEN}, owing AS (
    SELECT currency, customer_id, ${SUMS},
      row_number() OVER (PARTITION BY currency ORDER BY sum(owed) DESC, customer_id) AS place
    FROM open GROUP BY currency, customer_id)
  SELECT owing.*, customer_id AS "customerId", customer.name AS "customerName"
  FROM owing JOIN customer ON customer.id = customer_id WHERE place <= $2
  ORDER BY total::numeric DESC, customer_id, owing.currency`;

/** Reads the tables of other modules, and writes none. */
@Injectable()
export class ReceivablesRepository {
  constructor(private readonly reports: Reports) {}

  inTotal(now: Date): Promise<readonly Receivables[]> {
    return this.reports.query<Receivables>('analytics', IN_TOTAL, [now]);
  }

  /** Returns the customers that owe most of each currency. */
  byCustomer(now: Date, most: number): Promise<readonly Receivables[]> {
    return this.reports.query<Receivables>('analytics', BY_CUSTOMER, [now, most]);
  }
}
