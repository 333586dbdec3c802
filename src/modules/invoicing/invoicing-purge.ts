import { purgeProvider } from '../test-clocks';

/**
 * Deletes the invoices, credit and credit notes of customers of a deleted test clock. Rows that refer to other rows are
 * deleted first.
 */
export const invoicingPurge = purgeProvider('invoicing', [
  `WITH payouts AS (
    DELETE FROM credit_payout WHERE credit_id IN (SELECT id FROM credit_grant WHERE customer_id = ANY ($1)))
  DELETE FROM credit_grant WHERE customer_id = ANY ($1) RETURNING id`,
  `WITH returns AS (
    DELETE FROM credit_return WHERE note_id IN (SELECT id FROM credit_note WHERE customer_id = ANY ($1)))
  DELETE FROM credit_note WHERE customer_id = ANY ($1) RETURNING id`,
  `WITH removed AS (
    DELETE FROM invoice_line WHERE invoice_id IN (SELECT id FROM invoice WHERE customer_id = ANY ($1))
    RETURNING id),
  released AS (DELETE FROM released_line WHERE line_id = ANY (ARRAY(SELECT id FROM removed)))
  SELECT id FROM removed`,
  `WITH snapshots AS (DELETE FROM invoice_snapshot WHERE customer_id = ANY ($1))
  DELETE FROM invoice WHERE customer_id = ANY ($1) RETURNING id`,
]);
