import type Stripe from 'stripe';
import { type Decline } from './test-methods';

/** The member `error` of an error response of Stripe, in the type of the SDK. */
export type ErrorBody = Omit<Partial<Stripe.StripeRawError>, 'type'> & {
  readonly type: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';
};

/** A response with a status other than 200. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: ErrorBody,
  ) {
    super(body.message);
  }
}

type Details = Omit<ErrorBody, 'type' | 'message'>;

export function invalidRequest(message: string, details: Details = {}, status = 400): Refusal {
  return new Refusal(status, { type: 'invalid_request_error', message, ...details });
}

/** Returns the error for an unknown id: 404 if the id is in the path (`id` or `intent`), otherwise 400. */
export function noSuch(kind: string, id: string, param: string): Refusal {
  return invalidRequest(
    `No such ${kind}: '${id}'`,
    { code: 'resource_missing', param },
    param === 'id' || param === 'intent' ? 404 : 400,
  );
}

/** Returns the error for an operation that the state of a payment or setup intent does not allow. */
export function unexpectedState(
  intent: Stripe.PaymentIntent | Stripe.SetupIntent,
  message: string,
): Refusal {
  return intent.object === 'payment_intent'
    ? invalidRequest(message, {
        code: 'payment_intent_unexpected_state',
        payment_intent: structuredClone(intent),
      })
    : invalidRequest(message, {
        code: 'setup_intent_unexpected_state',
        setup_intent: structuredClone(intent),
      });
}

/** Returns the response (402) to a charge or an attachment that the bank refuses. */
export function cardError(
  decline: Decline,
  details: Pick<
    Stripe.StripeRawError,
    'charge' | 'payment_intent' | 'payment_method' | 'setup_intent'
  >,
): Refusal {
  return new Refusal(402, {
    type: 'card_error',
    ...decline,
    doc_url: `https://stripe.com/docs/error-codes/${decline.code.replaceAll('_', '-')}`,
    ...structuredClone(details),
  });
}
