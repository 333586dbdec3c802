import type Stripe from 'stripe';
import { digitsByCode } from '../../../../core/money';
import { isId } from '../../../../platform/ids';
import type {
  ChargeRequest,
  ReportedCharge,
  UnrecordedChargeState,
  UnrecordedRefundState,
} from '../../domain/payment-provider';
import { fromStripeAmount } from './stripe-amounts';
import { listedRefundOf, stateOfIntent } from './stripe-outcomes';

const SECOND_MS = 1_000;

/** Returns the parameters of a new payment intent, except for the amount and the customer. */
export function intentParameters(
  { paymentId, customerId, invoiceId, currency, token }: ChargeRequest,
  environment: string,
): Omit<Stripe.PaymentIntentCreateParams, 'amount'> {
  return {
    currency: currency.toLowerCase(),
    ...(token !== null && { payment_method: token }),
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    metadata: {
      environment,
      payment_id: paymentId,
      customer_id: customerId,
      ...(invoiceId !== null && { invoice_id: invoiceId }),
    },
  };
}

/** Returns the charge of a payment intent; null if the intent is not expanded, or has a currency that is not known. */
export function chargeOf(intent: Stripe.PaymentIntent | string | null): ReportedCharge | null {
  if (intent === null || typeof intent === 'string') return null;
  if (!digitsByCode.has(intent.currency.toUpperCase())) return null;
  const { payment_id: paymentId } = intent.metadata;
  const isOurs = paymentId !== undefined && isId('pay', paymentId);
  return { chargeReference: intent.id, paymentId: isOurs ? paymentId : null };
}

/**
 * Returns our id of a refund, or null if this service did not make the refund. Accepts the id from any environment,
 * because the charge decides if a refund is ours, and `ENVIRONMENT_NAME` may have changed.
 */
export function ownRefundIdOf(metadata: Stripe.Metadata | null): string | null {
  const id = metadata?.['refund_id'];
  return id !== undefined && isId('ref', id) ? id : null;
}

/**
 * Converts a payment intent whose payment is missing in this database. `not_ours`: the intent has no customer, or its
 * metadata do not contain our environment, a payment id and a customer id. `unpaid`: no money has moved, and none is
 * being processed.
 */
export function unrecordedChargeOf(
  intent: Stripe.PaymentIntent,
  environment: string,
): UnrecordedChargeState {
  const { id: reference, metadata, customer, payment_method: method } = intent;
  const { payment_id: paymentId, customer_id: customerId, invoice_id: invoiceId } = metadata;
  if (metadata['environment'] !== environment || customer === null) return { kind: 'not_ours' };
  if (paymentId === undefined || !isId('pay', paymentId)) return { kind: 'not_ours' };
  if (customerId === undefined || !isId('cus', customerId)) return { kind: 'not_ours' };
  const outcome = stateOfIntent(intent);
  if (outcome.kind !== 'succeeded' && outcome.kind !== 'pending') return { kind: 'unpaid' };
  const currency = intent.currency.toUpperCase();
  const charge = {
    reference,
    paymentId,
    customerId,
    invoiceId: invoiceId !== undefined && isId('inv', invoiceId) ? invoiceId : null,
    amount: fromStripeAmount(
      outcome.kind === 'succeeded' ? intent.amount_received : intent.amount,
      currency,
    ),
    currency,
    token: typeof method === 'string' ? method : (method?.id ?? null),
    createdAt: new Date(intent.created * SECOND_MS),
    outcome: { kind: outcome.kind, reference },
  };
  return { kind: 'charge', charge };
}

/**
 * Converts a refund that is missing in this database. The payment intent of the refund must be expanded. `not_ours`:
 * the refund has no payment intent, or the currency of the intent is not known.
 */
export function unrecordedRefundOf(refund: Stripe.Refund): UnrecordedRefundState {
  const charge = chargeOf(refund.payment_intent);
  if (charge === null) return { kind: 'not_ours' };
  const refundId = ownRefundIdOf(refund.metadata);
  const { reason } = refund;
  return { kind: 'refund', ...charge, refund: { ...listedRefundOf(refund), refundId, reason } };
}
