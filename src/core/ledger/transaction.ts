import { invariant } from '../invariant';

/** Account of the ledger. Each payment provider has its own cash clearing account. */
export type LedgerAccount =
  | 'accounts_receivable'
  | 'revenue'
  | 'deferred_revenue'
  | 'tax_payable'
  | 'customer_credit'
  | 'refunds'
  | 'discounts'
  | 'bad_debt'
  | 'disputed'
  | 'dispute_losses'
  | `cash_clearing:${string}`;

/** Debit (positive) or credit (negative) of one account, in minor units. */
export type Posting = { readonly account: LedgerAccount; readonly amountMinor: bigint };

export type LedgerTransaction = {
  readonly kind:
    | 'invoice_finalized'
    | 'payment'
    | 'refund'
    | 'credit_note'
    | 'void'
    | 'write_off'
    | 'recovery'
    | 'revenue_release'
    | 'credit_applied'
    | 'dispute_withdrawn'
    | 'dispute_reinstated'
    | 'dispute_lost';
  readonly currency: string;
  readonly postings: readonly Posting[];
};

/**
 * Makes a transaction with one posting per account. Adds up postings of the same account, and leaves out sums of zero.
 * @throws InvariantError when debits and credits differ.
 */
export function transaction(
  kind: LedgerTransaction['kind'],
  currency: string,
  postings: readonly Posting[],
): LedgerTransaction {
  const byAccount = new Map<LedgerAccount, bigint>();
  for (const { account, amountMinor } of postings) {
    byAccount.set(account, (byAccount.get(account) ?? 0n) + amountMinor);
  }
  const merged = [...byAccount]
    .filter(([, amountMinor]) => amountMinor !== 0n)
    .map(([account, amountMinor]) => ({ account, amountMinor }));
  const built = { kind, currency, postings: merged };
  assertBalanced(built);
  return built;
}

/** @throws InvariantError when debits and credits differ. */
export function assertBalanced({ kind, postings }: LedgerTransaction): void {
  const balance = postings.reduce((total, { amountMinor }) => total + amountMinor, 0n);
  invariant(balance === 0n, `a ${kind} transaction balances: it is off by ${balance}`);
}
