import type Stripe from 'stripe';

/** Payment that a charge at Stripe belongs to. */
interface OwnPayment {
  /** Our id. */
  readonly paymentId: string;
  readonly chargeReference: string;
}

/** Returns the payment of an expanded intent, or null if it is not a payment of this service. */
export function ownPaymentOf(
  intent: Stripe.PaymentIntent | string | null,
  environment: string,
): OwnPayment | null {
  if (intent === null || typeof intent === 'string') return null;
  const { payment_id: paymentId, environment: of } = intent.metadata;
  if (paymentId === undefined || of !== environment) return null;
  return { paymentId, chargeReference: intent.id };
}
