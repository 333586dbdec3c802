import type { LedgerTransaction, LedgerAccount } from '../../../core/ledger';
import type { InstantRange } from '../../../core/time';

export interface PostingContext {
  /**
   * Id of the object whose change is posted, such as an invoice, a payment, a refund or a dispute. Each source has at
   * most one transaction of each kind and version.
   */
  readonly sourceId: string;
  /**
   * Version of the source after the change. Distinguishes the transactions if several changes of the source post the
   * same kind. Absent or 0: the first or only transaction of its kind.
   */
  readonly sourceVersion?: number;
  readonly customerId: string;
  /** Time of the change, on the clock of the customer. */
  readonly occurredAt: Date;
}

export interface PostedTransaction extends LedgerTransaction, PostingContext {
  readonly id: string;
}

/** Returns the change of the customer's credit balance in minor units: positive adds credit, negative uses it. */
export function creditChangeOf({ postings }: LedgerTransaction): bigint {
  const posted = postings.find(({ account }) => account === 'customer_credit');
  return -(posted?.amountMinor ?? 0n);
}

/** Debits minus credits of an account. */
export interface AccountBalance {
  readonly account: LedgerAccount;
  readonly currency: string;
  /** Minor units; positive when debits exceed credits. */
  readonly amountMinor: bigint;
}

/** Filters for a list of transactions. A filter that is null is not applied. */
export interface TransactionFilter {
  readonly customerId: string | null;
  readonly sourceId: string | null;
  /** Only transactions that post to this account. */
  readonly account: string | null;
  readonly kinds: readonly LedgerTransaction['kind'][] | null;
  readonly currency: string | null;
  readonly occurred: InstantRange;
}

export const ALL_TRANSACTIONS: TransactionFilter = {
  customerId: null,
  sourceId: null,
  account: null,
  kinds: null,
  currency: null,
  occurred: { from: null, to: null },
};

/** An invariant of the ledger and the query that finds violations. */
export interface LedgerCheck {
  /** Name of the invariant: snake_case, stable, unique. */
  readonly name: string;
  /**
   * Returns violations as ids or short texts; empty when the invariant holds. Runs in the transaction of the
   * verification.
   * @param since id of the first ledger transaction to check. The check covers this and later transactions, or the
   *   customers who have one of them. Null: the whole ledger
   */
  readonly run: (since: string | null) => Promise<readonly string[]>;
  /** True: a verification of a part of the ledger (`since` is not null) skips this check. */
  readonly onlyForWholeLedger?: true;
}

/** Amounts that a check sums by key and currency. */
export interface SummedRows {
  /** Name of these amounts in the text of a violation, such as `stored`, `ledger` or `invoices`. */
  readonly name: string;
  /** SQL statements whose rows are `(key, customer_id, currency, amount)`, with the amount in minor units. */
  readonly sql: readonly string[];
}

/** A check that the sums of both sides are equal for every key and currency. */
export interface SumsCheck {
  readonly name: string;
  readonly left: SummedRows;
  readonly right: SummedRows;
}

/** A check that a statement finds no violation in the whole database. */
export interface QueryCheck {
  readonly name: string;
  /** SQL that returns at most `$1` rows. The only column is the id of a violation, or a short text about it. */
  readonly sql: string;
}

export interface CheckResult {
  readonly name: string;
  /** Violations, at most {@link MAX_OFFENDING}; empty if the invariant holds. */
  readonly offending: readonly string[];
}

export const MAX_OFFENDING = 100;

/** Last comparison of the books with a payment provider, as the `reconciliations` module reports it. */
export interface LastReconciliation {
  readonly id: string;
  readonly provider: string;
  readonly status: string;
  /** End of the compared period. */
  readonly toAt: Date;
  readonly differencesFound: number;
  readonly endedAt: Date | null;
}
