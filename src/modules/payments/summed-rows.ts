/**
 * SQL for checks that compare sums of payments and disputes with the ledger and with invoices. Each statement returns
 * `(key, customer_id, currency, amount)`. Both sides of a check are summed and compared per `key`, e.g. per payment.
 * The key is the smallest object that both sides know, so that opposite errors in two objects do not cancel out.
 */

/** Succeeded payments, by provider and payment. */
export const PAID_ROWS = `
  SELECT provider || ' ' || id AS key, customer_id, currency, amount FROM payment WHERE status = 'succeeded'`;

/** Parts of payments that paid invoices, by invoice. */
export const APPLIED_ROWS = `
  SELECT invoice_id AS key, customer_id, currency, amount_applied AS amount
  FROM payment WHERE amount_applied <> 0`;

/** Parts of payments that paid no invoice, by payment. */
export const NOT_APPLIED_ROWS = `
  SELECT id AS key, customer_id, currency, amount - amount_applied AS amount
  FROM payment WHERE status = 'succeeded' AND amount <> amount_applied`;

/** Money that refunds gave back, by payment. */
export const REFUNDED_ROWS = `
  SELECT id AS key, customer_id, currency, amount_refunded AS amount
  FROM payment WHERE amount_refunded <> 0`;

/** Money that refunds gave back, by customer. */
export const REFUNDED_BY_CUSTOMER_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_refunded AS amount
  FROM payment WHERE amount_refunded <> 0`;

/** Amounts of payments that are reserved for pending refunds, by payment. */
export const REFUNDS_RESERVED_ROWS = `
  SELECT id AS key, customer_id, currency, amount_refund_pending AS amount
  FROM payment WHERE amount_refund_pending <> 0`;

/** Amounts lost in disputes, from the rows of payments, by payment. */
export const PAYMENTS_LOST_ROWS = `
  SELECT id AS key, customer_id, currency, amount_lost AS amount FROM payment WHERE amount_lost <> 0`;

/** Amounts of payments that are to pay an invoice and have no final outcome yet, by invoice. */
export const IN_FLIGHT_ROWS = `
  SELECT invoice_id AS key, customer_id, currency, amount
  FROM payment WHERE invoice_id IS NOT NULL AND due_at IS NOT NULL`;

/** Funds that disputes withdrew and that were not paid back, by provider and dispute. The amounts are negative. */
export const DISPUTED_CASH_ROWS = `
  SELECT provider || ' ' || id AS key, customer_id, currency, amount_reinstated - amount_withdrawn AS amount FROM dispute`;

/** Funds that disputes withdrew and that are neither paid back nor lost, by dispute. */
export const DISPUTED_ROWS = `
  SELECT id AS key, customer_id, currency, amount_withdrawn - amount_reinstated - amount_lost AS amount
  FROM dispute`;

/** Amounts lost in disputes, from the rows of disputes, by payment. */
export const LOST_ROWS = `
  SELECT payment_id AS key, customer_id, currency, amount_lost AS amount FROM dispute`;

/** Amounts lost in disputes, from the rows of disputes, by customer. */
export const LOST_BY_CUSTOMER_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_lost AS amount FROM dispute`;
