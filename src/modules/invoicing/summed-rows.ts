import { isInEffect } from './invoice-query';

/**
 * Statements for the checks of the ledger, which add up the amounts by key and currency. Each statement returns the
 * columns `key` (the customer), `customer_id`, `currency` and `amount` (in minor units).
 */

/** Amounts that customers still owe on open invoices. */
export const RECEIVABLE_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_due - amount_paid - amount_credited AS amount
  FROM invoice WHERE status = 'open'`;

/** Unpaid amounts of uncollectible invoices: the amounts that were written off. */
export const WRITTEN_OFF_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_due - amount_paid - amount_credited AS amount
  FROM invoice WHERE status = 'uncollectible'`;

export const DISCOUNT_ROWS = `
  SELECT customer_id AS key, customer_id, currency, discount AS amount FROM invoice WHERE ${isInEffect('invoice')} AND discount <> 0`;

/** Subtotals and taxes of finalized invoices, void ones included. The key has the customer and the name of the amount. */
export const INVOICE_AMOUNT_ROWS = `
  SELECT customer_id || ' ' || name AS key, customer_id, currency, part.amount
  FROM invoice CROSS JOIN LATERAL (VALUES ('subtotal', subtotal), ('tax', tax + inclusive_tax)) AS part (name, amount)
  WHERE status <> 'draft' AND part.amount <> 0`;

/** Amounts and taxes of the lines of these invoices, with the same keys. */
export const LINE_AMOUNT_ROWS = `
  SELECT customer_id || ' ' || name AS key, customer_id, currency, part.amount
  FROM invoice JOIN invoice_line AS line ON invoice_id = invoice.id
    CROSS JOIN LATERAL (VALUES ('subtotal', line.amount), ('tax', line.tax)) AS part (name, amount)
  WHERE status <> 'draft' AND part.amount <> 0`;

/** Taxes of invoices less taxes of credit notes. */
export const TAX_ROWS = [
  `SELECT customer_id AS key, customer_id, currency, line.tax AS amount
   FROM invoice JOIN invoice_line AS line ON invoice_id = invoice.id WHERE ${isInEffect('invoice')} AND line.tax <> 0`,
  `SELECT customer_id AS key, customer_id, currency, -tax AS amount FROM credit_note WHERE status = 'issued' AND tax <> 0`,
];

/**
 * Net amounts of invoices before discounts, less the net amounts of credit notes: revenue, recognized or still
 * deferred.
 */
export const REVENUE_ROWS = [
  `SELECT customer_id AS key, customer_id, currency, line.net + line.discount AS amount
   FROM invoice JOIN invoice_line AS line ON invoice_id = invoice.id WHERE ${isInEffect('invoice')}`,
  `SELECT customer_id AS key, customer_id, currency, -net AS amount FROM credit_note WHERE status = 'issued'`,
];

/** Net amounts of lines billed in advance whose revenue is not released, less what credit notes took off them. */
export const DEFERRED_ROWS = `
  SELECT customer_id AS key, customer_id, currency, line.net - line.credited_net AS amount
  FROM invoice JOIN invoice_line AS line ON invoice_id = invoice.id
  WHERE ${isInEffect('invoice')} AND line.is_in_advance AND NOT line.is_released
    AND NOT EXISTS (SELECT FROM released_line WHERE line_id = line.id)`;

/** Parts of credit notes that were deferred revenue when the note was issued, also of notes that are void now. */
export const DEFERRED_NOTE_ROWS = `
  SELECT customer_id AS key, customer_id, currency, deferred AS amount FROM credit_note WHERE deferred <> 0`;

/** Amounts that payments paid on invoices. */
export const INVOICES_PAID_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_paid AS amount FROM invoice WHERE amount_paid <> 0`;

/** Amounts reserved on invoices for payments that have not ended. */
export const INVOICES_RESERVED_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_pending AS amount
  FROM invoice WHERE amount_pending <> 0`;

/** Credit balances: available credit, plus credit reserved for pending refunds. */
export const CREDIT_BALANCE_ROWS = `
  SELECT customer_id AS key, customer_id, currency, remaining + reserved AS amount
  FROM credit_grant WHERE remaining > 0 OR reserved > 0`;

/** Credit that came from payments: its `source_id` has the prefix of payment ids. */
export const CREDIT_OF_PAYMENTS_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount
  FROM credit_grant WHERE starts_with(source_id, 'pay_')`;

/** Credit from payments that is neither available, reserved, paid out nor lost: invoices have used it. By payment. */
export const USED_CREDIT_ROWS = `
  SELECT source_id AS key, customer_id, currency, amount - remaining - reserved - refunded - lost AS amount
  FROM credit_grant WHERE starts_with(source_id, 'pay_') AND amount > remaining + reserved + refunded + lost`;

/** Credit from payments that invoices in effect used, and what credit notes returned of it, negative. By payment. */
export const CREDIT_OF_INVOICES_ROWS = [
  `SELECT source_id AS key, invoice.customer_id, invoice.currency, (used #>> '{amountMinor,$bigint}')::bigint AS amount
   FROM invoice, LATERAL jsonb_array_elements(credits) AS used
     JOIN credit_grant ON credit_grant.id = used ->> 'creditId'
   WHERE ${isInEffect('invoice')} AND credit_applied > 0 AND starts_with(source_id, 'pay_')`,
  `SELECT payment_id AS key, customer_id, currency, -credit_return.amount AS amount
   FROM credit_return JOIN credit_note ON credit_note.id = note_id`,
];

/** Credit that refunds paid out, negative. */
export const REFUNDED_CREDIT_ROWS = `
  SELECT customer_id AS key, customer_id, currency, -refunded AS amount FROM credit_grant WHERE refunded > 0`;

/** Credit that was taken back because of lost disputes, negative. */
export const LOST_CREDIT_ROWS = `
  SELECT customer_id AS key, customer_id, currency, -lost AS amount FROM credit_grant WHERE lost > 0`;

/** Parts of issued credit notes that refunds pay out, negative. */
export const CREDIT_NOTE_REFUND_ROWS = `
  SELECT customer_id AS key, customer_id, currency, -to_refund AS amount
  FROM credit_note WHERE status = 'issued' AND to_refund <> 0`;
