import type Stripe from 'stripe';
import { type Account } from './account';
import { invalidRequest, unexpectedState } from './errors';
import { attemptCharge } from './charges';
import { idOf } from './fields';
import { checkUnspent, findMethod } from './payment-methods';

type Intent = Stripe.PaymentIntent | Stripe.SetupIntent;

/**
 * Returns the payment method that a request names for an intent. A test token, such as `pm_card_visa`, creates a new
 * one.
 *
 * @throws Refusal (400) for a method of another customer, a spent method, or a type that the intent does not accept.
 */
export function usableMethod(account: Account, intent: Intent, id: string): Stripe.PaymentMethod {
  const method = findMethod(account, id, 'payment_method');
  checkUnspent(account, method);
  if (method.customer !== null && method.customer !== intent.customer) {
    throw invalidRequest(
      intent.customer === null
        ? 'The payment method you provided is attached to a customer so for security purposes you must provide the customer in the request.'
        : `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`,
      { param: 'payment_method' },
    );
  }
  const euros = intent.object === 'setup_intent' || intent.currency === 'eur';
  const accepted = intent.payment_method_types.includes(method.type);
  if (!accepted || (method.type === 'sepa_debit' && !euros)) {
    throw invalidRequest(
      `The PaymentMethod provided (${method.type}) is not allowed for this intent, which takes ${intent.payment_method_types.join(', ')}.`,
      { param: 'payment_method' },
    );
  }
  return method;
}

/** Returns true if the bank requires 3-D Secure. `offSession`: the customer is absent. */
export function needsAuthentication(
  account: Account,
  method: Stripe.PaymentMethod,
  offSession: boolean,
): boolean {
  const authentication = account.behaviours.get(method.id)?.authentication ?? 'never';
  switch (authentication) {
    case 'never':
      return false;
    case 'always':
    case 'until_set_up':
      return true;
    case 'on_session':
      return !offSession;
  }
}

/** Returns the next step of the customer: a redirect if the caller gave a `return_url`, otherwise Stripe.js. */
export function nextAction(
  intent: Intent,
  { return_url: url, use_stripe_sdk: browser }: { return_url?: string; use_stripe_sdk?: boolean },
): Pick<Stripe.PaymentIntent.NextAction, 'type' | 'redirect_to_url' | 'use_stripe_sdk'> {
  if (url !== undefined && browser !== true) {
    return {
      type: 'redirect_to_url',
      redirect_to_url: { return_url: url, url: `https://hooks.stripe.test/3d_secure/${intent.id}` },
    };
  }
  return {
    type: 'use_stripe_sdk',
    use_stripe_sdk: { type: 'three_d_secure_redirect', source: intent.id },
  };
}

const FAILED = {
  type: 'invalid_request_error',
  code: 'payment_intent_authentication_failure',
  doc_url: 'https://stripe.com/docs/error-codes/payment-intent-authentication-failure',
  message:
    'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
} as const;

/**
 * Ends 3-D Secure. If it succeeded, the payment is charged; otherwise it needs another method. The outcome is reported
 * only by events.
 */
export function authenticatePayment(
  account: Account,
  intent: Stripe.PaymentIntent,
  successful: boolean,
): void {
  const method = pendingMethod(account, intent);
  intent.next_action = null;
  if (successful) {
    attemptCharge(account, intent, method, null);
    return;
  }
  intent.status = 'requires_payment_method';
  intent.payment_method = null;
  intent.last_payment_error = { ...FAILED, payment_method: structuredClone(method) };
  account.record('payment_intent.payment_failed', intent);
}

/** @throws Refusal (400) if the intent does not wait for an action of the customer. */
export function pendingMethod(account: Account, intent: Intent): Stripe.PaymentMethod {
  if (intent.status !== 'requires_action') {
    throw unexpectedState(
      intent,
      `${intent.id} is ${intent.status}: nothing is to be authenticated.`,
    );
  }
  return findMethod(account, idOf(intent.payment_method), 'payment_method');
}
