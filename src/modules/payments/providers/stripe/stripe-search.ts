import type Stripe from 'stripe';
import type { ChargeQuery, NotSentOutcome } from '../../domain/payment-provider';
import type { StripeClient } from './stripe-client';
import { NOT_SENT } from './stripe-errors';
import { intentOf } from './stripe-outcomes';

/** Usual difference between our clock and Stripe's. */
const CLOCK_SLACK_S = 300;
/**
 * Largest assumed time by which the clock that dated a charge was ahead of Stripe's. A charge that is not found would be
 * made again.
 */
const MAX_CLOCK_SLACK_S = 7 * 86_400;

/** A charge that was canceled may never have been confirmed: an older one may have moved the money. */
const CONFIRMED: ReadonlySet<Stripe.PaymentIntent.Status> = new Set([
  'succeeded',
  'processing',
  'requires_action',
]);

/**
 * Returns the times, in seconds since 1970, from which intents are listed to find a charge, one after the other.
 * @param sentAt null: not known; all intents are listed
 */
function searchStarts(sentAt: Date | null): readonly number[] {
  if (sentAt === null) return [0];
  const sentS = Math.floor(sentAt.getTime() / 1_000);
  return [sentS - CLOCK_SLACK_S, sentS - MAX_CLOCK_SLACK_S];
}

/**
 * Returns the id of the payment's intent; null if Stripe has none. Reads the list of the customer's intents, because
 * Stripe's search index is delayed. Reads older ones only if the latest show no charge that was confirmed.
 */
export async function findCharge(
  client: StripeClient,
  query: ChargeQuery,
): Promise<string | NotSentOutcome | null> {
  const { paymentId, customerReference: customer, sentAt } = query;
  let found: Stripe.PaymentIntent | null = null;
  for (const gte of searchStarts(sentAt)) {
    const { answer } = await client.request(
      'payment_intents/list',
      (sdk) =>
        sdk.paymentIntents
          .list({ customer, created: { gte }, limit: 100 })
          .autoPagingToArray({ limit: 10_000 }),
      { payment_id: paymentId },
    );
    if (answer === null) return NOT_SENT;
    found = intentOf(query, answer);
    if (found !== null && CONFIRMED.has(found.status)) break;
  }
  return found?.id ?? null;
}
