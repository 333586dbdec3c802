import { purgeProvider } from '../test-clocks';

/** Deletes the ledger rows of customers. Triggers allow this only for customers on test clocks. */
export const ledgerPurge = purgeProvider('ledger', [
  `
  DELETE FROM ledger_posting USING ledger_transaction
  WHERE id = transaction_id AND customer_id = ANY ($1)`,
  'DELETE FROM ledger_transaction WHERE customer_id = ANY ($1)',
]);
