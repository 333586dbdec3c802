import type { LedgerAccount, LedgerTransaction } from '../../../core/ledger';

/** What a transaction in the books is about. */
export interface PostingFacts {
  /** The id of what posts: an invoice, a payment, a refund. It posts each kind of transaction once. */
  readonly sourceId: string;
  readonly customerId: string;
  /** When the fact happened, on the customer's clock. */
  readonly occurredAt: Date;
}

/** A transaction as it stands in the books. Nothing changes or removes it. */
export interface PostedTransaction extends LedgerTransaction, PostingFacts {
  readonly id: string;
}

/** Debits less credits of an account. */
export interface AccountBalance {
  readonly account: LedgerAccount;
  readonly currency: string;
  /** Minor units; positive where debits prevail. */
  readonly amountMinor: bigint;
}

/** The part of an account that is one customer's. */
export interface CustomerBalance {
  readonly customerId: string;
  readonly currency: string;
  readonly amountMinor: bigint;
}

/** What a list of transactions is narrowed to; null: not narrowed. */
export interface TransactionFilter {
  readonly customerId: string | null;
  readonly sourceId: string | null;
}

/** A statement about the books, and where it does not hold. */
export interface LedgerCheck {
  /** snake_case, stable, unique: what holds. */
  readonly name: string;
  /** What breaks it, ids or a few words each; none when it holds. Reads in the transaction of the verification. */
  readonly run: () => Promise<readonly string[]>;
}

export interface CheckResult {
  readonly name: string;
  /** At most `MOST_OFFENDING`. */
  readonly offending: readonly string[];
}

export const MOST_OFFENDING = 100;
