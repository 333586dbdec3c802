import { Injectable } from '@nestjs/common';
import type { LedgerTransaction } from '../../core/ledger';
import { Clock } from '../../platform/clock';
import { Database, Reports } from '../../platform/database';
import { type LoweredInvoice, creditedLater, type NegativeInvoiceCredit } from './domain/lowered';
import type { Receivables } from './domain/receivables';

const OVERDUE = `$1::timestamptz - due_at`;

/** Returns SQL that sums amounts overdue by more than `from` days and at most `to` days (null: no upper limit). */
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

const OPEN_NOW = `
  WITH open AS (
    SELECT customer_id, currency, due_at, amount_due - amount_paid - amount_credited AS owed
    FROM invoice WHERE status = 'open' AND test_clock_id IS NULL
      AND amount_due > amount_paid + amount_credited)`;

/**
 * Postings to receivables. `invoice_id` is the posted invoice, or the invoice of the posted payment or credit note.
 * Includes the customer id, so that a filter by customer applies before the join with `invoice`.
 */
const POSTED = `
    SELECT amount_minor, posted.customer_id, coalesce(payment.invoice_id, credit_note.invoice_id, source_id) AS invoice_id
    FROM ledger_posting
      JOIN ledger_transaction AS posted ON posted.id = transaction_id
      LEFT JOIN payment ON payment.id = source_id
      LEFT JOIN credit_note ON credit_note.id = source_id
    WHERE account = 'accounts_receivable'`;

/**
 * Key by which amounts owed are summed: the id of the subscription, or of the invoice if it has no subscription. Sums
 * by invoice would not match the ledger. The credit of a negative invoice is posted under that invoice, although it
 * reduces the amounts owed on other invoices of the same subscription.
 */
const DEBT_KEY = 'coalesce(subscription_id, invoice.id)';

export const OWED_STORED = `
  SELECT ${DEBT_KEY} AS key, customer_id, currency, amount_due - amount_paid - amount_credited AS amount
  FROM invoice WHERE status = 'open'`;
/** All postings to receivables. Summed by {@link DEBT_KEY}, they equal the unpaid amounts of open invoices. */
export const OWED_POSTED = `
  SELECT ${DEBT_KEY} AS key, posted.customer_id, currency, amount_minor AS amount
  FROM (${POSTED}) AS posted JOIN invoice ON invoice.id = invoice_id`;

/** Subscriptions in which credit of a negative invoice lowered other invoices at or after the instant $1. */
const LOWERED_LATER = `
  SELECT subscription_id FROM ledger_transaction JOIN invoice ON invoice.id = source_id
  WHERE kind = 'credit_applied' AND occurred_at >= $1 AND test_clock_id IS NULL`;

/**
 * Credits of negative invoices in the subscriptions of {@link LOWERED_LATER}, each with the amount by which it lowered
 * open invoices. Credit that lowered an uncollectible invoice does not count. For such credit, the negative invoice
 * also posts the recovery of a bad debt to receivables, and the two postings cancel out.
 */
const CREDITS = `
  SELECT subscription_id AS "subscriptionId", posted.id AS "postedId", posted.occurred_at >= $1 AS "isLater", (
      SELECT -sum(amount_minor) FROM ledger_transaction AS part JOIN ledger_posting ON transaction_id = part.id
      WHERE part.source_id = posted.source_id AND account = 'accounts_receivable')::text AS amount
  FROM invoice JOIN ledger_transaction AS posted ON source_id = invoice.id AND kind = 'credit_applied'
  WHERE subscription_id IN (${LOWERED_LATER}) ORDER BY posted.id`;

/**
 * Invoices (in the subscriptions of {@link LOWERED_LATER}) whose unpaid amount was lowered by credit notes or by
 * negative invoices. `lowered` is the part from negative invoices: `amount_credited` minus the credit notes.
 */
const LOWERED = `
  SELECT invoice.id, subscription_id AS "subscriptionId", finalized.id AS "finalizedBy", written_off.id AS "writtenOffBy",
    (amount_credited - coalesce((SELECT sum(to_receivable) FROM credit_note
      WHERE invoice_id = invoice.id AND credit_note.status = 'issued'), 0))::text AS lowered
  FROM invoice
    JOIN ledger_transaction AS finalized ON finalized.source_id = invoice.id AND finalized.kind = 'invoice_finalized'
    LEFT JOIN ledger_transaction AS written_off
      ON written_off.source_id = invoice.id AND written_off.kind = 'write_off'
  WHERE amount_credited > 0 AND subscription_id IN (${LOWERED_LATER}) ORDER BY invoice.id`;

const FINALIZED_BEFORE = 'invoice.finalized_at < $1 AND invoice.test_clock_id IS NULL';

type ReceivableSource = 'invoice' | 'payment' | 'credit_note';

/**
 * Types of objects that post each kind of ledger transaction and thereby change the receivable of an invoice finalized
 * earlier. Leaves out types through which this invoice cannot be found.
 */
const SOURCES: Readonly<Record<LedgerTransaction['kind'], readonly ReceivableSource[]>> = {
  payment: ['payment'],
  recovery: ['payment'],
  credit_note: ['credit_note'],
  write_off: ['invoice'],
  void: ['invoice', 'payment', 'credit_note'],
  // Empty, because this kind posts to the receivable of the invoice that it finalizes.
  invoice_finalized: [],
  // Empty, because the source is the negative invoice, not an invoice that its credit lowered.
  credit_applied: [],
  refund: [],
  revenue_release: [],
  dispute_withdrawn: [],
  dispute_reinstated: [],
  dispute_lost: [],
};

/**
 * Returns SQL for the postings to receivables that objects of the type `source` made at or after $1, if their invoice
 * was finalized before $1. Negates the amounts, so that adding them undoes the postings.
 */
function postedLater(source: ReceivableSource): string {
  const kinds = Object.entries(SOURCES).filter(([, sources]) => sources.includes(source));
  const invoiceId = source === 'invoice' ? 'id' : 'invoice_id';
  return `
    SELECT invoice.id, -amount_minor
    FROM ledger_transaction AS posted JOIN ledger_posting ON transaction_id = posted.id
      JOIN ${source} AS source ON source.id = source_id JOIN invoice ON invoice.id = source.${invoiceId}
    WHERE occurred_at >= $1 AND kind IN (${kinds.map(([kind]) => `'${kind}'`).join(', ')})
      AND account = 'accounts_receivable' AND ${FINALIZED_BEFORE}`;
}

/**
 * Amounts owed at $1 on each invoice finalized before $1: the amount owed now, without the postings at or after $1.
 * Postings of the credit of negative invoices do not name the invoices that the credit lowered. So parameters pass
 * these amounts: $2 has the ids of the invoices lowered at or after $1, and $3 the amounts.
 */
const OPEN_AT = `
  WITH owed AS (
    SELECT id, amount_due - amount_paid - amount_credited AS amount
    FROM invoice WHERE status = 'open' AND ${FINALIZED_BEFORE}
    UNION ALL ${postedLater('invoice')}
    UNION ALL ${postedLater('payment')}
    UNION ALL ${postedLater('credit_note')}
    UNION ALL SELECT * FROM unnest($2::text[], $3::bigint[])
  ), total AS (
    SELECT id, sum(amount) AS owed FROM owed GROUP BY id HAVING sum(amount) <> 0
  ), open AS (
    SELECT customer_id, currency, due_at, owed FROM total JOIN invoice USING (id) WHERE ${FINALIZED_BEFORE})`;

const inTotal = (open: string): string => `
  ${open}
  SELECT currency, NULL AS "customerId", NULL AS "customerName", NULL AS "isDeleted", ${SUMS}
  FROM open GROUP BY currency ORDER BY currency`;

const byCustomer = (open: string, limit: string): string => `
  ${open}, owing AS (
    SELECT currency, customer_id, ${SUMS},
      row_number() OVER (PARTITION BY currency ORDER BY sum(owed) DESC, customer_id) AS place
    FROM open GROUP BY currency, customer_id)
  SELECT owing.*, customer_id AS "customerId", customer.name AS "customerName",
    customer.deleted_at IS NOT NULL AS "isDeleted"
  FROM owing JOIN customer ON customer.id = customer_id WHERE place <= ${limit}
  ORDER BY total::numeric DESC, customer_id, owing.currency`;

export interface ReceivablesReport {
  readonly at: Date;
  readonly rows: readonly Receivables[];
}

interface CreditRow extends Omit<NegativeInvoiceCredit, 'amountMinor'> {
  readonly amount: string;
}

interface LoweredRow extends Omit<LoweredInvoice, 'loweredMinor'> {
  readonly lowered: string;
}

/** Reads the amounts owed on invoices, at present or at an earlier instant, from tables of other modules. */
@Injectable()
export class ReceivablesRepository {
  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the amounts owed, by currency. Without a limit, returns the sums of all customers. With a limit, returns
   * one row for each of the customers who owe most in a currency. Amounts at an earlier instant are the amounts owed
   * now, minus the postings at or after that instant.
   * @param instant null: now
   */
  read(instant: Date | null, limit: number | null): Promise<ReceivablesReport> {
    return this.reports.run('analytics', async () => {
      const at = instant ?? (await this.timeOfSnapshot());
      const open = instant === null ? OPEN_NOW : OPEN_AT;
      const parameters = instant === null ? [at] : [at, ...(await this.loweredSince(at))];
      const rows = await (limit === null
        ? this.database.query<Receivables>(inTotal(open), parameters)
        : this.database.query<Receivables>(byCustomer(open, `$${parameters.length + 1}`), [
            ...parameters,
            limit,
          ]));
      return { at, rows };
    });
  }

  /**
   * Returns the time of the snapshot. A query begins the snapshot before the clock is read, so that the snapshot
   * contains no later changes.
   */
  private async timeOfSnapshot(): Promise<Date> {
    await this.database.query('SELECT');
    return this.clock.now();
  }

  /**
   * Returns the invoices that credit of negative invoices lowered at or after an instant. Returns two lists of equal
   * length: the ids of the invoices, and the amounts in minor units.
   */
  private async loweredSince(at: Date): Promise<readonly [readonly string[], readonly string[]]> {
    const credits = await this.database.query<CreditRow>(CREDITS, [at]);
    const invoices = await this.database.query<LoweredRow>(LOWERED, [at]);
    const later = creditedLater(
      credits.map(({ amount, ...credit }) => ({ ...credit, amountMinor: BigInt(amount) })),
      invoices.map(({ lowered, ...invoice }) => ({ ...invoice, loweredMinor: BigInt(lowered) })),
    );
    return [[...later.keys()], Array.from(later.values(), String)];
  }
}
