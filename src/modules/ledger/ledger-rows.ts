import type { LedgerAccount, LedgerTransaction } from '../../core/ledger';

const CASH_CLEARING = 'cash_clearing:';

/**
 * Returns SQL that selects the postings to an account, by customer, for a ledger check (`SummedRows.sql`). `sign` -1
 * counts credits as positive.
 */
export function postedRows(account: LedgerAccount, sign: 1 | -1 = 1): string {
  return rowsOf('customer_id', account, sign);
}

/**
 * Returns SQL that selects the postings to an account, by source (such as an invoice), for a ledger check
 * (`SummedRows.sql`). `sign` -1 counts credits as positive. With `kind`, only transactions of this kind.
 */
export function postedRowsBySource(
  account: LedgerAccount,
  sign: 1 | -1 = 1,
  kind: LedgerTransaction['kind'] | null = null,
): string {
  const rows = rowsOf('source_id', account, sign);
  return kind === null ? rows : `${rows} AND kind = '${kind}'`;
}

/** Selects postings to the cash clearing accounts, by provider and source, for a ledger check (`SummedRows.sql`). */
export const POSTED_CASH_ROWS = `
  SELECT substr(account, ${CASH_CLEARING.length + 1}) || ' ' || source_id AS key, customer_id, currency, amount_minor AS amount
  FROM ledger_posting JOIN ledger_transaction ON id = transaction_id
  WHERE starts_with(account, '${CASH_CLEARING}')`;

const rowsOf = (key: 'customer_id' | 'source_id', account: LedgerAccount, sign: 1 | -1): string => `
  SELECT ${key} AS key, customer_id, currency, ${sign} * amount_minor AS amount
  FROM ledger_posting JOIN ledger_transaction ON id = transaction_id
  WHERE account = '${account}'`;
