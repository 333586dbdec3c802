import type Stripe from 'stripe';
import type { DisputeStatus } from '../../domain/reported-dispute';
import type { ProviderDisputeState } from '../../domain/payment-provider';
import { fromStripeAmount } from './stripe-amounts';
import { ownPaymentOf } from './stripe-metadata';

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

/**
 * Converts a dispute of Stripe whose payment intent is expanded. Withdrawn and reinstated funds are the sums of its balance
 * transactions. A balance transaction in another currency, that of the account, counts as the disputed amount. An unknown
 * status counts as open.
 */
export function disputeOf(dispute: Stripe.Dispute, environment: string): ProviderDisputeState {
  const payment = ownPaymentOf(dispute.payment_intent, environment);
  if (payment === null) return { kind: 'not_ours' };
  const { due_by: dueBy } = dispute.evidence_details;
  return {
    kind: 'dispute',
    ...payment,
    reported: {
      providerReference: dispute.id,
      status: Object.hasOwn(STATUSES, dispute.status)
        ? (STATUSES[dispute.status] ?? 'open')
        : 'open',
      reason: dispute.reason,
      amount: minorOf(dispute.amount, dispute.currency),
      amountWithdrawn: -movedOf(dispute, -1),
      amountReinstated: movedOf(dispute, 1),
      isRefundable: dispute.is_charge_refundable,
      evidenceDueAt: dueBy === null ? null : new Date(dueBy * 1_000),
    },
  };
}

/** Returns the signed sum of the movements in one direction, in minor units of the dispute's currency. Fees are not included. */
function movedOf(dispute: Stripe.Dispute, sign: 1 | -1): bigint {
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
