import type { Payment } from '../domain/payment';
import type {
  ListedRefund,
  PaymentProvider,
  PreparingProvider,
  ProviderOutcome,
  ProviderRefundRequest,
} from '../domain/payment-provider';

/** Data of a refund that the provider needs. */
export interface RequestedRefund {
  readonly id: string;
  /** Minor units of the payment's currency. */
  readonly amount: bigint;
  /** The provider's id of the refund. */
  readonly providerReference: string | null;
  /** Number in the idempotency key of the request. Incremented only after the provider has not listed the refund for an hour. */
  readonly providerAttempt: number;
  /** Real time of the request with the present `providerAttempt`; null: sent when the refund was created. */
  readonly sentAt: Date | null;
  readonly createdAt: Date;
  /** Time of the next poll; null once the outcome is final. */
  readonly dueAt: Date | null;
  /** Number of times that the provider gave no final answer. */
  readonly attempts: number;
}

/** A refund whose provider is asked again. */
export interface ResumedRefund extends RequestedRefund {
  /** The provider's ids of the other refunds of the payment, as far as they are recorded here. */
  readonly otherReferences: ReadonlySet<string>;
}

/** State of a refund at its provider; `absent` if the provider does not list it. */
export type ProviderRefundState = ProviderOutcome | { readonly kind: 'absent' };

/** Number of polls without an answer up to which the request is repeated. Later polls list the refunds of the charge. */
const MAX_REPLAYS = 2;

export const directRefundKey = (refundId: string): string => `refund:${refundId}`;

/** Returns the request of a refund. It depends on the row alone, so that a repeated key has the same parameters. */
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
 * Returns the state of a refund at its provider. A refund without a reference is requested again while the provider replays its
 * key. After that, the refund is searched for in the list of the charge's refunds. A listed refund of the same amount without our
 * id may be this one, or one made at the provider. Then the result stays `unknown` until that refund is recorded here, unless the
 * payment is too small for both: then the provider refuses to make this one again.
 */
export async function resumePreparedRefund(
  provider: PreparingProvider,
  payment: Payment,
  refund: ResumedRefund,
  now: Date,
): Promise<ProviderRefundState> {
  if (refund.providerReference !== null) return provider.retrieveRefund(refund.providerReference);
  const request = refundRequest(payment, refund, provider.flow);
  const { sentAt, createdAt, dueAt } = refund;
  const isReplayed = now.getTime() - (sentAt ?? createdAt).getTime() < provider.replayMs;
  if (dueAt !== null && isReplayed && refund.attempts <= MAX_REPLAYS)
    return provider.refund(request);
  const listed = await provider.listRefunds(request.chargeReference);
  const found = listed.find(({ refundId }) => refundId === refund.id);
  if (found !== undefined) return found.outcome;
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
