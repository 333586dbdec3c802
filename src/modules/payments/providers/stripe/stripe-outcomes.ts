import type Stripe from 'stripe';
import type {
  ChargeQuery,
  ListedRefund,
  PreparedCharge,
  ProviderOutcome,
} from '../../domain/payment-provider';
import { fromStripeAmount, toStripeAmount } from './stripe-amounts';
import { declineOf, failureOfDecline, REFUND_DECLINED, type StripeFailure } from './stripe-errors';

/** A declined payment intent. It can still be confirmed with another card, until it is canceled. */
export interface DeclinedIntent {
  readonly kind: 'declined';
  readonly reference: string;
}

const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

export function stateOfIntent(
  intent: Pick<Stripe.PaymentIntent, 'id' | 'status' | 'last_payment_error'>,
): ProviderOutcome | PreparedCharge | DeclinedIntent {
  const { id: reference, status, last_payment_error: error } = intent;
  switch (status) {
    case 'succeeded':
      return { kind: 'succeeded', reference };
    case 'processing':
      return { kind: 'pending', reference };
    case 'requires_action':
      return { kind: 'requires_action', reference };
    case 'requires_confirmation':
      return { kind: 'prepared', reference };
    case 'requires_payment_method':
      return { kind: error === null ? 'prepared' : 'declined', reference };
    case 'canceled':
      return error === null ? { kind: 'canceled', reference } : failureOfDecline(declineOf(error));
    default:
      return { kind: 'unknown' };
  }
}

/**
 * Statuses in the order in which the intents of one payment are searched. Only the intent with the committed reference
 * was ever confirmed. An intent that is only prepared therefore comes after one that failed and was canceled.
 */
const SEARCHED: readonly Stripe.PaymentIntent.Status[] = [
  'succeeded',
  'processing',
  'requires_action',
  'canceled',
  'requires_payment_method',
  'requires_confirmation',
];

/**
 * Returns the payment's intent in a list, or null. Ignores the environment in the metadata, because ids of payments are
 * unique and the environment may be a former one. Skips intents of another amount or currency: somebody copied our
 * metadata to them.
 */
export function intentOf(
  { paymentId, amount, currency }: ChargeQuery,
  listed: readonly Stripe.PaymentIntent[],
): Stripe.PaymentIntent | null {
  const stripeAmount = toStripeAmount(amount, currency);
  const ours = listed.filter(
    (intent) =>
      intent.metadata['payment_id'] === paymentId &&
      intent.amount === stripeAmount &&
      intent.currency === currency.toLowerCase(),
  );
  const [found] = SEARCHED.flatMap((status) => ours.filter((intent) => intent.status === status));
  return found ?? null;
}

export function outcomeOfRefund({
  id: reference,
  status,
}: Pick<Stripe.Refund, 'id' | 'status'>): ProviderOutcome {
  switch (status) {
    case 'succeeded':
      return { kind: 'succeeded', reference };
    case 'pending':
    case 'requires_action':
      return { kind: 'pending', reference };
    case 'canceled':
      return { kind: 'canceled', reference };
    case 'failed':
      return REFUND_DECLINED;
    default:
      return { kind: 'unknown' };
  }
}

export function listedRefundOf(refund: Stripe.Refund): ListedRefund {
  return {
    reference: refund.id,
    amount: fromStripeAmount(refund.amount, refund.currency.toUpperCase()),
    refundId: refund.metadata?.['refund_id'] ?? null,
    outcome: outcomeOfRefund(refund),
  };
}

export function failureOf(error: Stripe.errors.StripeError): StripeFailure {
  const { detail } = error;
  const { message_code: messageCode } = error.raw as { readonly message_code?: string };
  const connection = typeof detail === 'object' && 'code' in detail ? detail.code : null;
  return {
    status: error.statusCode ?? null,
    type: error.rawType ?? null,
    ...declineOf(error),
    parameter: error.param ?? null,
    messageCode: messageCode ?? null,
    notConnected: connection !== null && NOT_CONNECTED.has(connection) ? connection : null,
  };
}
