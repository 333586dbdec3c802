import type { Payment } from '../domain/payment';
import {
  type ListedRefund,
  MAX_REPLAYS,
  type PaymentProvider,
  type PreparingProvider,
  type ProviderOutcome,
  type ProviderRefundRequest,
} from '../domain/payment-provider';

/** Fields of a refund that calls to the provider need. */
export interface RequestedRefund {
  readonly id: string;
  /** Minor units of the payment's currency. */
  readonly amount: bigint;
  /** The provider's id of the refund; null: not known yet. */
  readonly providerReference: string | null;
  /**
   * Number, from 1, that is part of the idempotency key sent to the provider. Incremented only after the refund has
   * been missing from the provider's list for an hour.
   */
  readonly providerAttempt: number;
  /**
   * Real time of the request with the current `providerAttempt`; null for refunds that an earlier version of the
   * service stored. `createdAt` is then used in its place.
   */
  readonly sentAt: Date | null;
  readonly createdAt: Date;
  /** Time of the next poll; null: the outcome is final. */
  readonly dueAt: Date | null;
  /** Number of calls to the provider without a final outcome. */
  readonly attempts: number;
}

/** A refund whose state is read from the provider. */
export interface ResumedRefund extends RequestedRefund {
  /** The provider's ids of the payment's other refunds, if these ids are stored. */
  readonly otherReferences: ReadonlySet<string>;
}

/** State of a refund at the provider. `absent`: the refund is not in the provider's list of the charge's refunds. */
export type ProviderRefundState = ProviderOutcome | { readonly kind: 'absent' };

export const directRefundKey = (refundId: string): string => `refund:${refundId}`;

/**
 * Returns the request for a refund. Uses only stored fields of the refund, so that a request with a repeated key has
 * the same parameters.
 */
export function refundRequest(
  { id: paymentId, currency, providerReference }: Payment,
  { id: refundId, amount, providerAttempt }: RequestedRefund,
  flow: PaymentProvider['flow'],
): ProviderRefundRequest {
  if (providerReference === null) throw new Error(`The payment ${paymentId} has no reference.`);
  return {
    idempotencyKey:
      flow === 'direct' ? directRefundKey(refundId) : `${refundId}:${providerAttempt}`,
    refundId,
    chargeReference: providerReference,
    amount,
    currency,
  };
}

/**
 * Returns the state of a refund at the provider. Searches for a refund without a reference in the provider's list of
 * the charge's refunds. If the refund is not listed, the result is:
 * - The answer to a repeated request: in the first polls, while the provider still knows the idempotency key.
 * - `unknown`: if the stored outcome is final. Also if a listed refund of the same amount has no id of ours and is not
 *   stored here: it may be this refund. Exception: a payment too small for both, as a second refund would be refused.
 * - `absent`: in all other cases. The caller can send the refund again.
 */
export async function resumePreparedRefund(
  provider: PreparingProvider,
  payment: Payment,
  refund: ResumedRefund,
  now: Date,
): Promise<ProviderRefundState> {
  if (refund.providerReference !== null) return provider.retrieveRefund(refund.providerReference);
  const request = refundRequest(payment, refund, provider.flow);
  // Comes before a repeated request, because the idempotency key may be an old one: in a restored database,
  // `providerAttempt` may be lower than the number last sent.
  const listed = await provider.listRefunds(request.chargeReference);
  if ('kind' in listed) return listed;
  // A refund of another amount, or one that is stored as another refund, has copied metadata.
  const found = listed.find(
    ({ refundId, reference, amount }) =>
      refundId === refund.id && amount === refund.amount && !refund.otherReferences.has(reference),
  );
  if (found !== undefined) return found.outcome;
  const { sentAt, createdAt, dueAt } = refund;
  const isReplayed = now.getTime() - (sentAt ?? createdAt).getTime() < provider.replayMs;
  if (dueAt !== null && isReplayed && refund.attempts <= MAX_REPLAYS)
    return provider.refund(request);
  const isOther = ({ refundId, reference, amount, outcome: { kind } }: ListedRefund): boolean =>
    refundId !== null ||
    refund.otherReferences.has(reference) ||
    kind === 'failed' ||
    kind === 'canceled' ||
    amount !== refund.amount ||
    amount + refund.amount > payment.amount - payment.amountRefunded;
  const isAbsent = dueAt !== null && listed.every(isOther);
  return { kind: isAbsent ? 'absent' : 'unknown' };
}
