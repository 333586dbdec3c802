import type Stripe from 'stripe';
import type { ChargeQuery, NotSentOutcome } from '../../domain/payment-provider';
import type { StripeClient } from './stripe-client';
import { NOT_SENT } from './stripe-errors';
import { intentOf } from './stripe-outcomes';

/** Usual difference between our clock and Stripe's. */
const CLOCK_SLACK_S = 300;
/**
 * Longest assumed time by which our clock was ahead of Stripe's when it dated a charge. It is long, because a charge
 * that is not found is made again.
 */
const MAX_CLOCK_SLACK_S = 7 * 86_400;

/**
 * Statuses that end the search. Does not contain `canceled`: a canceled intent may never have been confirmed, and an
 * older intent may have moved the money.
 */
const CONFIRMED: ReadonlySet<Stripe.PaymentIntent.Status> = new Set([
  'succeeded',
  'processing',
  'requires_action',
]);

/**
 * Returns the start times of the listings in which a charge is searched for, one after the other. Seconds since 1970.
 * @param sentAt null: not known; all intents are listed
 */
function searchStarts(sentAt: Date | null): readonly number[] {
  if (sentAt === null) return [0];
  const sentS = Math.floor(sentAt.getTime() / 1_000);
  return [sentS - CLOCK_SLACK_S, sentS - MAX_CLOCK_SLACK_S];
}

/**
 * Returns the id of the payment's intent; null if Stripe has none. Reads the list of the customer's intents, because
 * Stripe's search index is delayed. Reads older intents only if the latest include no confirmed charge of the payment.
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
