import type { LedgerAccount, LedgerTransaction } from '../../core/ledger';

const CASH_CLEARING = 'cash_clearing:';

/**
 * Returns SQL for `SummedRows.sql`: postings to an account, with the customer as key. `sign` -1 counts credits as
 * positive. With `kind`, only transactions of this kind.
 */
export function postedRows(
  account: LedgerAccount,
  sign: 1 | -1 = 1,
  kind: LedgerTransaction['kind'] | null = null,
): string {
  const isOfKind = kind === null ? '' : `AND kind = '${kind}'`;
  return `
    SELECT customer_id AS key, customer_id, currency, ${sign} * amount_minor AS amount
    FROM ledger_posting JOIN ledger_transaction ON id = transaction_id
    WHERE account = '${account}' ${isOfKind}`;
}

/** SQL for `SummedRows.sql`: postings to the cash clearing accounts, with the provider as key. */
export const POSTED_CASH_ROWS = `
  SELECT substr(account, ${CASH_CLEARING.length + 1}) AS key, customer_id, currency, amount_minor AS amount
  FROM ledger_posting JOIN ledger_transaction ON id = transaction_id
  WHERE starts_with(account, '${CASH_CLEARING}')`;
