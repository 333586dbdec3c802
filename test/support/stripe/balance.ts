import type Stripe from 'stripe';
import { type Account } from './account';

interface Movement {
  readonly type: Stripe.BalanceTransaction.Type;
  readonly reportingCategory: string;
  readonly amount: number;
  readonly currency: string;
  readonly source: string;
  /** Default: for a charge, the fee of a charge; otherwise none. */
  readonly fee?: number;
}

/**
 * Records a balance transaction. The fee of a charge is 1.5 % plus 25 minor units. Each currency has a balance of its
 * own.
 */
export function movement(
  account: Account,
  { fee: given, ...move }: Movement,
): Stripe.BalanceTransaction {
  const charged = move.reportingCategory === 'charge';
  const fee = given ?? (charged ? Math.min(Math.round(move.amount * 0.015) + 25, move.amount) : 0);
  const entry = {
    id: account.newId('txn'),
    object: 'balance_transaction',
    amount: move.amount,
    available_on: account.now + 2 * 86_400,
    balance_type: 'payments',
    created: account.now,
    currency: move.currency,
    description: null,
    exchange_rate: null,
    fee,
    fee_details:
      fee === 0
        ? []
        : [
            {
              amount: fee,
              application: null,
              currency: move.currency,
              description: charged ? 'Stripe processing fees' : 'Dispute fee',
              type: 'stripe_fee',
            },
          ],
    net: move.amount - fee,
    reporting_category: move.reportingCategory,
    source: move.source,
    status: 'pending',
    type: move.type,
  } satisfies Stripe.BalanceTransaction;
  account.balanceTransactions.set(entry.id, entry);
  return entry;
}
