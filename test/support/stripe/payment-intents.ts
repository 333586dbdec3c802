import type Stripe from 'stripe';
import { type Account } from './account';
import { attemptCharge } from './charges';
import { checkAmount } from './currencies';
import { findCustomer } from './customers';
import { cardError, invalidRequest, noSuch, Refusal, unexpectedState } from './errors';
import { idOf, mergedMetadata } from './fields';
import { mandateFor } from './mandates';
import { nextAction, needsAuthentication, usableMethod } from './authentication';
import { type RequestParameters } from './parameters';

type Create = RequestParameters['paymentIntents.create'];

type Confirmation = RequestParameters['paymentIntents.confirm'];

export function createPaymentIntent(account: Account, parameters: Create): Stripe.PaymentIntent {
  checkAmount(parameters.amount, parameters.currency);
  if (parameters.customer !== undefined) findCustomer(account, parameters.customer, 'customer');
  if (parameters.capture_method !== undefined && parameters.capture_method === 'manual') {
    throw invalidRequest('The test double of Stripe does not implement manual capture.', {
      param: 'capture_method',
    });
  }
  for (const param of ['off_session', 'error_on_requires_action', 'mandate_data'] as const) {
    if (parameters[param] !== undefined && parameters.confirm !== true) {
      throw invalidRequest(`You can only use ${param} when confirm=true.`, { param });
    }
  }
  const id = account.newId('pi');
  const types = parameters.allowed_payment_method_types;
  const automatic = parameters.automatic_payment_methods;
  const intent = {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: types ?? null,
    amount: parameters.amount,
    amount_capturable: 0,
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods:
      automatic ?? (types ? null : { enabled: true, allow_redirects: 'always' }),
    canceled_at: null,
    cancellation_reason: null,
    capture_method: parameters.capture_method ?? 'automatic_async',
    client_secret: `${id}_secret_${account.newId('').slice(1)}`,
    confirmation_method: 'automatic',
    created: account.now,
    currency: parameters.currency.toLowerCase(),
    customer: parameters.customer ?? null,
    customer_account: null,
    description: parameters.description ?? null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: account.livemode,
    managed_payments: null,
    metadata: mergedMetadata({}, parameters.metadata),
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types:
      types ?? (parameters.currency.toLowerCase() === 'eur' ? ['card', 'sepa_debit'] : ['card']),
    payment_record: null,
    processing: null,
    receipt_email: parameters.receipt_email ?? null,
    review: null,
    setup_future_usage: parameters.setup_future_usage ?? null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: parameters.statement_descriptor_suffix ?? null,
    status: 'requires_payment_method',
    transfer_data: null,
    transfer_group: null,
  } satisfies Stripe.PaymentIntent;
  const created: Stripe.PaymentIntent = intent;
  if (parameters.payment_method !== undefined) {
    created.payment_method = usableMethod(account, created, parameters.payment_method).id;
    created.status = 'requires_confirmation';
  }
  account.paymentIntents.set(id, created);
  account.record('payment_intent.created', created);
  if (parameters.confirm !== true) return created;
  return confirmIntent(account, created, { ...parameters, payment_method: undefined });
}

export function confirmPaymentIntent(
  account: Account,
  id: string,
  parameters: Confirmation,
): Stripe.PaymentIntent {
  return confirmIntent(account, findPaymentIntent(account, id), parameters);
}

/** @throws Refusal (404) */
export function findPaymentIntent(
  account: Account,
  id: string,
  param = 'intent',
): Stripe.PaymentIntent {
  const intent = account.paymentIntents.get(id);
  if (!intent) throw noSuch('payment_intent', id, param);
  return intent;
}

export function cancelPaymentIntent(
  account: Account,
  id: string,
  reason: string | undefined,
): Stripe.PaymentIntent {
  const intent = findPaymentIntent(account, id);
  if (
    !['requires_payment_method', 'requires_confirmation', 'requires_action'].includes(intent.status)
  ) {
    throw unexpectedState(
      intent,
      `You cannot cancel this PaymentIntent because it has a status of ${intent.status}. Only a PaymentIntent with one of the following statuses may be canceled: requires_payment_method, requires_capture, requires_confirmation, requires_action, processing.`,
    );
  }
  intent.status = 'canceled';
  intent.canceled_at = account.now;
  intent.cancellation_reason = reason ?? null;
  intent.next_action = null;
  account.record('payment_intent.canceled', intent);
  return intent;
}

function confirmIntent(
  account: Account,
  intent: Stripe.PaymentIntent,
  confirmation: Confirmation,
): Stripe.PaymentIntent {
  checkConfirmable(intent);
  const named = confirmation.payment_method ?? intent.payment_method;
  if (typeof named !== 'string') {
    throw unexpectedState(
      intent,
      "You cannot confirm this PaymentIntent because it's missing a payment method. Update the PaymentIntent with a payment method and then attempt to confirm it again.",
    );
  }
  const method = usableMethod(account, intent, named);
  const offSession = confirmation.off_session !== undefined && confirmation.off_session !== false;
  checkReturnUrl(intent, confirmation, offSession);
  const mandate = mandateFor(account, intent, method, confirmation.mandate_data);
  intent.payment_method = method.id;
  intent.last_payment_error = null;
  intent.next_action = null;
  if (confirmation.receipt_email !== undefined) intent.receipt_email = confirmation.receipt_email;
  if (confirmation.setup_future_usage !== undefined) {
    intent.setup_future_usage =
      confirmation.setup_future_usage === '' ? null : confirmation.setup_future_usage;
  }
  if (needsAuthentication(account, method, offSession)) {
    if (offSession || confirmation.error_on_requires_action === true) {
      throw refuseUnauthenticated(account, intent, method);
    }
    intent.status = 'requires_action';
    intent.next_action = nextAction(intent, confirmation);
    account.record('payment_intent.requires_action', intent);
    return intent;
  }
  const decline = attemptCharge(account, intent, method, mandate);
  if (decline) {
    throw cardError(decline, {
      charge: idOf(intent.latest_charge),
      payment_intent: intent,
      payment_method: method,
    });
  }
  return intent;
}

function checkConfirmable(intent: Stripe.PaymentIntent): void {
  if (intent.status === 'succeeded') {
    throw unexpectedState(
      intent,
      'You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed.',
    );
  }
  if (intent.status === 'canceled' || intent.status === 'processing') {
    throw unexpectedState(
      intent,
      `You cannot confirm this PaymentIntent because it has a status of ${intent.status}. Only a PaymentIntent with one of the following statuses may be confirmed: requires_confirmation, requires_action.`,
    );
  }
}

/** Stripe requires a return URL if a redirect is possible and the customer is present. */
function checkReturnUrl(
  intent: Stripe.PaymentIntent,
  { return_url: url, use_stripe_sdk: browser }: Confirmation,
  offSession: boolean,
): void {
  const automatic = intent.automatic_payment_methods;
  const redirects = automatic?.enabled === true && automatic.allow_redirects !== 'never';
  if (!redirects || offSession || url !== undefined || browser === true) return;
  throw invalidRequest(
    "This PaymentIntent is configured to accept payment methods enabled in your Dashboard. Because some of these payment methods might redirect your customer off of your page, you must provide a `return_url`. If you don't want to accept redirect-based payment methods and don't want to provide a `return_url`, set `automatic_payment_methods[enabled]` to `true` and `automatic_payment_methods[allow_redirects]` to `never` when creating Setup Intents and Payment Intents.",
  );
}

/** Fails an attempt because the absent customer would have to authenticate. No charge is created. */
function refuseUnauthenticated(
  account: Account,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
): Refusal {
  const error = {
    type: 'card_error',
    code: 'authentication_required',
    decline_code: 'authentication_required',
    doc_url: 'https://stripe.com/docs/error-codes/authentication-required',
    message: 'Your card was declined. This transaction requires authentication.',
  } as const;
  intent.status = 'requires_payment_method';
  intent.payment_method = null;
  intent.last_payment_error = { ...error, payment_method: structuredClone(method) };
  account.record('payment_intent.payment_failed', intent);
  return new Refusal(402, {
    ...error,
    payment_intent: structuredClone(intent),
    payment_method: structuredClone(method),
  });
}
