import type Stripe from 'stripe';
import type { DisputeStatus } from '../../domain/reported-dispute';
import type { ProviderDisputeState } from '../../domain/payment-provider';
import { fromStripeAmount } from './stripe-amounts';
import { chargeOf } from './stripe-metadata';

const STATUSES: Readonly<Record<string, DisputeStatus>> = {
  warning_needs_response: 'inquiry',
  warning_under_review: 'inquiry',
  warning_closed: 'closed',
  needs_response: 'open',
  under_review: 'open',
  appeal_needs_response: 'open',
  appeal_under_review: 'open',
  prevented: 'closed',
  won: 'won',
  lost: 'lost',
};

type DisputedFunds = Pick<Stripe.Dispute, 'amount' | 'currency' | 'balance_transactions'>;

/**
 * Converts a Stripe dispute. The payment intent of the dispute must be expanded.
 * - Withdrawn funds are the sum of the negative balance transactions. Reinstated funds are the sum of the positive
 *   ones.
 * - A balance transaction in another currency (the currency of the account) counts as the whole disputed amount.
 * - If the currency of the dispute is not that of the payment, the whole payment counts as disputed.
 * - An unknown status counts as `open`.
 */
export function disputeOf(dispute: Stripe.Dispute): ProviderDisputeState {
  const { payment_intent: intent } = dispute;
  const charge = chargeOf(intent);
  if (charge === null || intent === null || typeof intent === 'string') return { kind: 'not_ours' };
  const { due_by: dueBy } = dispute.evidence_details;
  const funds = inCurrencyOf(intent, dispute);
  return {
    kind: 'dispute',
    ...charge,
    reported: {
      providerReference: dispute.id,
      status: Object.hasOwn(STATUSES, dispute.status)
        ? (STATUSES[dispute.status] ?? 'open')
        : 'open',
      reason: dispute.reason,
      amount: minorOf(funds.amount, funds.currency),
      amountWithdrawn: -movedOf(funds, -1),
      amountReinstated: movedOf(funds, 1),
      isRefundable: dispute.is_charge_refundable,
      evidenceDueAt: dueBy === null ? null : new Date(dueBy * 1_000),
    },
  };
}

function inCurrencyOf(intent: Stripe.PaymentIntent, dispute: DisputedFunds): DisputedFunds {
  const { currency, amount_received: amount } = intent;
  return dispute.currency === currency ? dispute : { ...dispute, currency, amount };
}

/**
 * Returns the sum of the balance transactions with this sign, in minor units of the payment's currency. The sum has the
 * same sign, and does not include fees.
 */
function movedOf(dispute: DisputedFunds, sign: 1 | -1): bigint {
  return dispute.balance_transactions
    .filter(({ amount }) => Math.sign(amount) === sign)
    .reduce((sum, { amount, currency }) => {
      const isSame = currency === dispute.currency;
      return sum + minorOf(isSame ? amount : sign * dispute.amount, dispute.currency);
    }, 0n);
}

function minorOf(amount: number, currency: string): bigint {
  return fromStripeAmount(amount, currency.toUpperCase());
}
