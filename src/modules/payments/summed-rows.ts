/** SQL for `SummedRows.sql` of ledger checks. Each statement returns `(key, customer_id, currency, amount)`. */

/** Succeeded payments less refunds, by provider. */
export const HELD_ROWS = `
  SELECT provider AS key, customer_id, currency, amount - amount_refunded AS amount
  FROM payment WHERE status = 'succeeded'`;

/** Parts of payments that paid invoices, by customer. */
export const APPLIED_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_applied AS amount
  FROM payment WHERE status = 'succeeded'`;

/** Parts of payments that paid no invoice, by customer. */
export const NOT_APPLIED_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount - amount_applied AS amount
  FROM payment WHERE status = 'succeeded'`;

/** Money that refunds gave back, by customer. */
export const REFUNDED_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_refunded AS amount
  FROM payment WHERE status = 'succeeded'`;

/** Amounts of payments that are reserved for pending refunds, by customer. */
export const REFUNDS_RESERVED_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_refund_pending AS amount
  FROM payment WHERE amount_refund_pending <> 0`;

/** Parts of payments that were lost in disputes, as the payments show them, by customer. */
export const PAYMENTS_LOST_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_lost AS amount FROM payment WHERE amount_lost <> 0`;

/** Payments that are to pay an invoice and have no final outcome yet, by customer. */
export const IN_FLIGHT_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount
  FROM payment WHERE invoice_id IS NOT NULL AND due_at IS NOT NULL`;

/** Funds that disputes withdrew, less funds that were paid back, as negative amounts, by provider. */
export const DISPUTED_CASH_ROWS = `
  SELECT provider AS key, customer_id, currency, amount_reinstated - amount_withdrawn AS amount FROM dispute`;

/** Funds that disputes withdrew and that are neither paid back nor lost, by customer. */
export const DISPUTED_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_withdrawn - amount_reinstated - amount_lost AS amount
  FROM dispute`;

/** Funds lost in disputes, by customer. */
export const LOST_ROWS = `
  SELECT customer_id AS key, customer_id, currency, amount_lost AS amount FROM dispute`;
