import { isInEffect } from './invoice-query';

/**
 * SQL statements for ledger checks. A check adds up the amounts of two sets of statements by key and currency, and
 * compares the sums. Each statement returns the columns `key`, `customer_id`, `currency` and `amount` (in minor units).
 * The key is the smallest object that both sides know, so that errors in two objects of a customer do not cancel out.
 */

/** Amounts owed on open invoices, by customer. */
export const RECEIVABLE_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_due - amount_paid - amount_credited AS amount
  FROM invoice WHERE status = 'open'`;

/** Amounts written off, by customer: the unpaid amounts of uncollectible invoices. */
export const WRITTEN_OFF_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_due - amount_paid - amount_credited AS amount
  FROM invoice WHERE status = 'uncollectible'`;

export const DISCOUNT_ROWS = `
  SELECT id AS key, customer_id, currency, discount AS amount FROM invoice WHERE ${isInEffect('invoice')} AND discount <> 0`;

/** Amounts of finalized invoices, including void ones. The key is the invoice id and the name of the amount. */
export const INVOICE_AMOUNT_ROWS = `
  SELECT id || ' ' || name AS key, customer_id, currency, part.amount
  FROM invoice CROSS JOIN LATERAL (
    VALUES ('subtotal', subtotal), ('discount', discount), ('tax', tax + inclusive_tax)) AS part (name, amount)
  WHERE status <> 'draft' AND part.amount <> 0`;

/** Amounts of the lines of finalized invoices, with the same keys as {@link INVOICE_AMOUNT_ROWS}. */
export const LINE_AMOUNT_ROWS = `
  SELECT invoice_id || ' ' || name AS key, customer_id, currency, part.amount
  FROM invoice JOIN invoice_line AS line ON invoice_id = invoice.id
    CROSS JOIN LATERAL (
      VALUES ('subtotal', line.amount), ('discount', line.discount), ('tax', line.tax)) AS part (name, amount)
  WHERE status <> 'draft' AND part.amount <> 0`;

/** Taxes by invoice, and taxes by credit note as negative amounts. */
export const TAX_ROWS = [
  `SELECT invoice_id AS key, customer_id, currency, line.tax AS amount
   FROM invoice JOIN invoice_line AS line ON invoice_id = invoice.id WHERE ${isInEffect('invoice')} AND line.tax <> 0`,
  `SELECT id AS key, customer_id, currency, -tax AS amount FROM credit_note WHERE status = 'issued' AND tax <> 0`,
];

/** Recognized and deferred revenue. By invoice: net amounts plus discounts. By credit note: net amounts, negative. */
export const REVENUE_ROWS = [
  `SELECT invoice_id AS key, customer_id, currency, line.net + line.discount AS amount
   FROM invoice JOIN invoice_line AS line ON invoice_id = invoice.id WHERE ${isInEffect('invoice')}`,
  `SELECT id AS key, customer_id, currency, -net AS amount FROM credit_note WHERE status = 'issued'`,
];

/**
 * Deferred revenue, by customer: net amounts of lines billed in advance whose revenue is not recognized yet, less the
 * net amounts that credit notes took back.
 */
export const DEFERRED_ROWS = `
  SELECT customer_id AS key, customer_id, currency, line.net - line.credited_net AS amount
  FROM invoice JOIN invoice_line AS line ON invoice_id = invoice.id
  WHERE ${isInEffect('invoice')} AND line.is_in_advance AND NOT line.is_released
    AND NOT EXISTS (SELECT FROM released_line WHERE line_id = line.id)`;

/** Deferred revenue that credit notes took back when they were issued, by credit note. Includes void notes. */
export const DEFERRED_NOTE_ROWS = `
  SELECT id AS key, customer_id, currency, deferred AS amount FROM credit_note WHERE deferred <> 0`;

export const INVOICES_PAID_ROWS = `
  SELECT id AS key, customer_id, currency, amount_paid AS amount FROM invoice WHERE amount_paid <> 0`;

/** Amounts reserved for payments that have not ended, by invoice. */
export const INVOICES_RESERVED_ROWS = `
  SELECT id AS key, customer_id, currency, amount_pending AS amount
  FROM invoice WHERE amount_pending <> 0`;

/** Credit balances, by customer: available credit, plus credit that pending refunds have reserved. */
export const CREDIT_BALANCE_ROWS = `
  SELECT customer_id AS key, customer_id, currency, remaining + reserved AS amount
  FROM credit_grant WHERE remaining > 0 OR reserved > 0`;

/** Credit from payments, by payment. The `source_id` of such credit is a payment id. */
export const CREDIT_OF_PAYMENTS_ROWS = `
  SELECT source_id AS key, customer_id, currency, amount
  FROM credit_grant WHERE starts_with(source_id, 'pay_')`;

/** Credit from payments used by invoices, by payment: all credit less what is available, reserved, paid out or lost. */
export const USED_CREDIT_ROWS = `
  SELECT source_id AS key, customer_id, currency, amount - remaining - reserved - refunded - lost AS amount
  FROM credit_grant WHERE starts_with(source_id, 'pay_') AND amount > remaining + reserved + refunded + lost`;

/** Credit from payments used by finalized, non-void invoices, by payment, less the amounts in `credit_return`. */
export const CREDIT_OF_INVOICES_ROWS = [
  `SELECT source_id AS key, invoice.customer_id, invoice.currency, (used #>> '{amountMinor,$bigint}')::bigint AS amount
   FROM invoice, LATERAL jsonb_array_elements(credits) AS used
     JOIN credit_grant ON credit_grant.id = used ->> 'creditId'
   WHERE ${isInEffect('invoice')} AND credit_applied > 0 AND starts_with(source_id, 'pay_')`,
  `SELECT payment_id AS key, customer_id, currency, -credit_return.amount AS amount
   FROM credit_return JOIN credit_note ON credit_note.id = note_id`,
];

/** Credit that refunds paid out, by customer, as negative amounts. */
export const REFUNDED_CREDIT_ROWS = `
  SELECT customer_id AS key, customer_id, currency, -refunded AS amount FROM credit_grant WHERE refunded > 0`;

/** Credit that lost disputes took, by customer, as negative amounts. */
export const LOST_CREDIT_ROWS = `
  SELECT customer_id AS key, customer_id, currency, -lost AS amount FROM credit_grant WHERE lost > 0`;

/** Parts of issued credit notes that refunds pay out, by customer, as negative amounts. */
export const CREDIT_NOTE_REFUND_ROWS = `
  SELECT customer_id AS key, customer_id, currency, -to_refund AS amount
  FROM credit_note WHERE status = 'issued' AND to_refund <> 0`;

const BIGINT = "'$bigint'";
/** SQL for the sum of the taxes in a JSON list of tax shares. */
const taxIn = (shares: string, condition = 'true'): string => `(
  SELECT coalesce(sum((share -> 'taxMinor' ->> ${BIGINT})::bigint), 0)
  FROM jsonb_array_elements(${shares}) AS share WHERE ${condition})`;

/** Credited amounts of lines. The key consists of the line id and the name of the amount. */
export const CREDITED_ROWS = `
  SELECT line.id || ' ' || name AS key, customer_id, currency, part.amount
  FROM invoice_line AS line JOIN invoice ON invoice.id = invoice_id
    CROSS JOIN LATERAL (VALUES
      ('credited', credited), ('net', credited_net), ('tax', ${taxIn('credited_tax_shares')})
    ) AS part (name, amount)
  WHERE credited <> 0 OR credited_net <> 0 OR credited_tax_shares <> '[]'`;

/** Amounts that credit notes and credit lines credited, with the same keys as {@link CREDITED_ROWS}. */
export const CREDITING_ROWS = [
  `SELECT (line ->> 'lineId') || ' ' || name AS key, note.customer_id, note.currency, part.amount
   FROM credit_note AS note JOIN invoice ON invoice.id = invoice_id
     CROSS JOIN LATERAL jsonb_array_elements(note.lines) AS line
     CROSS JOIN LATERAL (SELECT (line -> 'netMinor' ->> ${BIGINT})::bigint AS minor) AS net
     CROSS JOIN LATERAL (VALUES
       ('credited', net.minor + ${taxIn("line -> 'taxShares'", `share ->> 'taxRateId' IN (${inclusiveRatesOf('invoice')})`)}),
       ('net', net.minor),
       ('tax', (line -> 'taxMinor' ->> ${BIGINT})::bigint)
     ) AS part (name, amount)
   WHERE note.status = 'issued'`,
  `SELECT credits_line_id || ' credited' AS key, customer_id, currency, -line.amount AS amount
   FROM invoice_line AS line JOIN invoice ON invoice.id = invoice_id
   WHERE credits_line_id IS NOT NULL AND ${isInEffect('invoice')}`,
];

/**
 * Finds groups of lines with the same invoice, item and period, if credit notes took more than the net amount or the
 * tax of the group.
 */
export const CREDITED_BEYOND_THEIR_LINES = `
  SELECT min(line.id) || ': net ' || sum(net) || ', credited ' || sum(credited_net)
    || ', tax ' || sum(line.tax) || ', credited ' || sum(credited.tax)
  FROM (SELECT DISTINCT invoice_id FROM credit_note WHERE status = 'issued') AS noted
    JOIN invoice_line AS line USING (invoice_id)
    CROSS JOIN LATERAL (SELECT ${taxIn('credited_tax_shares')} AS tax) AS credited
  WHERE kind <> 'credit'
  GROUP BY invoice_id, coalesce(item_id, line.id), period_start_at, period_end_at
  HAVING sum(credited_net) > greatest(sum(net), 0)
    OR sum(credited.tax) > greatest(sum(line.tax) + least(sum(net), 0), 0)
  ORDER BY 1 LIMIT $1`;

function inclusiveRatesOf(invoice: string): string {
  return `SELECT rate ->> 'taxRateId' FROM jsonb_array_elements(${invoice}.tax_rates) AS rate
    WHERE (rate -> 'inclusive')::boolean`;
}
