import type Stripe from 'stripe';
import { type Account } from './account';
import { needsAuthentication, nextAction, pendingMethod, usableMethod } from './authentication';
import { saveForLater } from './charges';
import { findCustomer } from './customers';
import { cardError, invalidRequest, noSuch, unexpectedState } from './errors';
import { mergedMetadata } from './fields';
import { mandateFor } from './mandates';
import { type RequestParameters } from './parameters';
import { type Decline } from './test-methods';

type Create = RequestParameters['setupIntents.create'];
type Confirmation = RequestParameters['setupIntents.confirm'];

export function createSetupIntent(account: Account, parameters: Create): Stripe.SetupIntent {
  if (parameters.customer !== undefined) findCustomer(account, parameters.customer, 'customer');
  if (parameters.mandate_data !== undefined && parameters.confirm !== true) {
    throw invalidRequest('You can only use mandate_data when confirm=true.', {
      param: 'mandate_data',
    });
  }
  const id = account.newId('seti');
  const types = parameters.allowed_payment_method_types;
  const automatic = parameters.automatic_payment_methods;
  const intent: Stripe.SetupIntent = {
    id,
    object: 'setup_intent',
    allowed_payment_method_types: types ?? null,
    application: null,
    automatic_payment_methods:
      automatic ?? (types ? null : { enabled: true, allow_redirects: 'always' }),
    cancellation_reason: null,
    client_secret: `${id}_secret_${account.newId('').slice(1)}`,
    created: account.now,
    customer: parameters.customer ?? null,
    customer_account: null,
    description: parameters.description ?? null,
    excluded_payment_method_types: null,
    flow_directions: null,
    last_setup_error: null,
    latest_attempt: null,
    livemode: account.livemode,
    mandate: null,
    metadata: mergedMetadata({}, parameters.metadata),
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: types ?? ['card', 'sepa_debit'],
    single_use_mandate: null,
    status: 'requires_payment_method',
    usage: parameters.usage ?? 'off_session',
  };
  if (parameters.payment_method !== undefined) {
    intent.payment_method = usableMethod(account, intent, parameters.payment_method).id;
    intent.status = 'requires_confirmation';
  }
  account.setupIntents.set(id, intent);
  account.record('setup_intent.created', intent);
  if (parameters.confirm !== true) return intent;
  return confirmSetupIntent(account, id, { ...parameters, payment_method: undefined });
}

/** @throws Refusal (404) */
export function findSetupIntent(account: Account, id: string): Stripe.SetupIntent {
  const intent = account.setupIntents.get(id);
  if (!intent) throw noSuch('setupintent', id, 'intent');
  return intent;
}

/** @throws Refusal (402) if the bank refuses to save the method, (400) in another state or without a method. */
export function confirmSetupIntent(
  account: Account,
  id: string,
  confirmation: { [Name in keyof Confirmation]: Confirmation[Name] | undefined },
): Stripe.SetupIntent {
  const intent = findSetupIntent(account, id);
  if (intent.status === 'succeeded' || intent.status === 'canceled') {
    throw unexpectedState(
      intent,
      `You cannot confirm this SetupIntent because it has a status of ${intent.status}.`,
    );
  }
  const named = confirmation.payment_method ?? intent.payment_method;
  if (typeof named !== 'string') {
    throw unexpectedState(
      intent,
      "You cannot confirm this SetupIntent because it's missing a payment method.",
    );
  }
  const method = usableMethod(account, intent, named);
  const decline = account.behaviours.get(method.id)?.attach;
  if (decline) {
    fail(account, intent, method, decline);
    throw cardError(decline, { setup_intent: intent, payment_method: method });
  }
  intent.mandate = mandateFor(account, intent, method, confirmation.mandate_data);
  intent.payment_method = method.id;
  intent.last_setup_error = null;
  if (needsAuthentication(account, method, false)) {
    intent.status = 'requires_action';
    intent.next_action = nextAction(intent, confirmation);
    account.record('setup_intent.requires_action', intent);
    return intent;
  }
  succeed(account, intent, method);
  return intent;
}

export function cancelSetupIntent(
  account: Account,
  id: string,
  reason: string | undefined,
): Stripe.SetupIntent {
  const intent = findSetupIntent(account, id);
  if (intent.status === 'succeeded' || intent.status === 'canceled') {
    throw unexpectedState(
      intent,
      `You cannot cancel this SetupIntent because it has a status of ${intent.status}.`,
    );
  }
  intent.status = 'canceled';
  intent.cancellation_reason = reason ?? null;
  intent.next_action = null;
  account.record('setup_intent.canceled', intent);
  return intent;
}

/** Ends 3-D Secure for a setup intent. */
export function authenticateSetup(
  account: Account,
  intent: Stripe.SetupIntent,
  successful: boolean,
): void {
  const method = pendingMethod(account, intent);
  if (successful) {
    succeed(account, intent, method);
    return;
  }
  fail(account, intent, method, {
    code: 'setup_intent_authentication_failure',
    message:
      'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
  });
}

function succeed(account: Account, intent: Stripe.SetupIntent, method: Stripe.PaymentMethod): void {
  intent.status = 'succeeded';
  intent.next_action = null;
  saveForLater(account, intent, method);
  account.record('setup_intent.succeeded', intent);
}

function fail(
  account: Account,
  intent: Stripe.SetupIntent,
  method: Stripe.PaymentMethod,
  { code, message, decline_code }: Decline,
): void {
  intent.status = 'requires_payment_method';
  intent.payment_method = null;
  intent.next_action = null;
  intent.last_setup_error = {
    type: code.endsWith('authentication_failure') ? 'invalid_request_error' : 'card_error',
    code,
    message,
    ...(decline_code !== undefined && { decline_code }),
    payment_method: structuredClone(method),
  };
  account.record('setup_intent.setup_failed', intent);
}
