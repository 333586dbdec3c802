import type Stripe from 'stripe';
import { type Account } from './account';
import { movement } from './balance';
import { openDispute } from './disputes';
import { idOf } from './fields';
import { type BankBehaviour, type Decline } from './test-methods';

/**
 * Charges a payment method for an intent. A card is approved or declined at once; a debit is `processing` until it
 * settles.
 *
 * @returns the decline of a card, or null.
 */
export function attemptCharge(
  account: Account,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
  mandate: string | null,
): Decline | null {
  const behaviour = bankOf(account, method);
  const charge = newCharge(account, intent, method, mandate);
  intent.latest_charge = charge.id;
  if (method.type === 'sepa_debit') {
    charge.status = 'pending';
    intent.status = 'processing';
    account.record('charge.pending', charge);
    account.record('payment_intent.processing', intent);
    account.later(behaviour.debitDelayMs, () => settleDebit(account, intent, charge, method));
    return null;
  }
  if (behaviour.charge === 'approved') {
    succeed(account, intent, charge, method);
    return null;
  }
  fail(account, intent, charge, method, behaviour.charge);
  return behaviour.charge;
}

function settleDebit(
  account: Account,
  intent: Stripe.PaymentIntent,
  charge: Stripe.Charge,
  method: Stripe.PaymentMethod,
): void {
  // Read only when the debit is due, so that a test can change the bank's answer before.
  const { charge: answer } = bankOf(account, method);
  if (answer === 'approved') succeed(account, intent, charge, method);
  else fail(account, intent, charge, method, answer);
}

function succeed(
  account: Account,
  intent: Stripe.PaymentIntent,
  charge: Stripe.Charge,
  method: Stripe.PaymentMethod,
): void {
  charge.status = 'succeeded';
  charge.paid = true;
  charge.captured = true;
  charge.amount_captured = charge.amount;
  charge.outcome = outcome('authorized', null);
  intent.status = 'succeeded';
  intent.amount_received = intent.amount;
  // With `automatic_async`, the default, the balance transaction is recorded after the response.
  if (intent.capture_method === 'automatic') addMovement(account, charge);
  else account.later(0, () => addMovement(account, charge));
  account.record('charge.succeeded', charge);
  if (intent.setup_future_usage !== null) saveForLater(account, intent, method);
  else if (method.customer === null) account.spentMethods.add(method.id);
  account.record('payment_intent.succeeded', intent);
  const { dispute } = bankOf(account, method);
  if (dispute) openDispute(account, charge, dispute);
}

/** Approves a charge that was declined, as a bank can do that sends a second answer. */
export function succeedLate(account: Account, intent: Stripe.PaymentIntent): void {
  const charge = account.charges.get(idOf(intent.latest_charge));
  const method = account.paymentMethods.get(charge?.payment_method ?? '');
  if (charge?.status !== 'failed' || !method) throw new Error(`${intent.id} was not declined.`);
  intent.last_payment_error = null;
  succeed(account, intent, charge, method);
}

function addMovement(account: Account, charge: Stripe.Charge): void {
  const card = charge.payment_method_details?.type === 'card';
  charge.balance_transaction = movement(account, {
    type: card ? 'charge' : 'payment',
    reportingCategory: 'charge',
    amount: charge.amount,
    currency: charge.currency,
    source: charge.id,
  }).id;
  account.record('charge.updated', charge, { balance_transaction: null });
}

function fail(
  account: Account,
  intent: Stripe.PaymentIntent,
  charge: Stripe.Charge,
  method: Stripe.PaymentMethod,
  decline: Decline,
): void {
  charge.status = 'failed';
  charge.failure_code = decline.code;
  charge.failure_message = decline.message;
  charge.outcome = outcome('issuer_declined', decline);
  intent.status = 'requires_payment_method';
  intent.payment_method = null;
  intent.last_payment_error = {
    type: method.type === 'card' ? 'card_error' : 'invalid_request_error',
    ...decline,
    charge: charge.id,
    payment_method: structuredClone(method),
  };
  account.record('charge.failed', charge);
  account.record('payment_intent.payment_failed', intent);
}

/**
 * Saves the method for the customer of the intent. A bank with `until_set_up` then no longer asks absent customers to
 * authenticate.
 */
export function saveForLater(
  account: Account,
  intent: Stripe.PaymentIntent | Stripe.SetupIntent,
  method: Stripe.PaymentMethod,
): void {
  const behaviour = bankOf(account, method);
  if (behaviour.authentication === 'until_set_up') {
    account.behaviours.set(method.id, { ...behaviour, authentication: 'on_session' });
  }
  if (typeof intent.customer !== 'string' || method.customer !== null) return;
  method.customer = intent.customer;
  account.record('payment_method.attached', method);
}

function bankOf(account: Account, method: Stripe.PaymentMethod): BankBehaviour {
  const behaviour = account.behaviours.get(method.id);
  if (!behaviour) throw new Error(`No bank knows the payment method ${method.id}.`);
  return behaviour;
}

function outcome(networkStatus: string, decline: Decline | null): Stripe.Charge.Outcome {
  const declined = networkStatus !== 'authorized';
  return {
    advice_code: decline?.advice_code ?? null,
    network_advice_code: null,
    network_decline_code: declined ? '05' : null,
    network_status: declined ? 'declined_by_network' : 'approved_by_network',
    reason: decline?.decline_code ?? null,
    risk_level: 'normal',
    risk_score: 10,
    seller_message: declined ? 'The bank declined the payment.' : 'Payment complete.',
    type: networkStatus,
  };
}

function newCharge(
  account: Account,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
  mandate: string | null,
): Stripe.Charge {
  const charge = {
    id: account.newId(method.type === 'card' ? 'ch' : 'py'),
    object: 'charge',
    amount: intent.amount,
    amount_captured: 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    billing_details: method.billing_details,
    calculated_statement_descriptor: null,
    captured: false,
    created: account.now,
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    fraud_details: {},
    livemode: account.livemode,
    metadata: intent.metadata,
    on_behalf_of: null,
    outcome: null,
    paid: false,
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: methodDetails(method, intent.amount, mandate),
    receipt_email: intent.receipt_email,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: intent.statement_descriptor_suffix,
    status: 'pending',
    transfer_data: null,
    transfer_group: null,
  } satisfies Stripe.Charge;
  account.charges.set(charge.id, charge);
  return charge;
}

function methodDetails(
  method: Stripe.PaymentMethod,
  amount: number,
  mandate: string | null,
): Stripe.Charge.PaymentMethodDetails {
  const { card, sepa_debit: debit } = method;
  return {
    type: method.type,
    ...(card && {
      card: {
        amount_authorized: amount,
        authorization_code: null,
        brand: card.brand,
        checks: card.checks,
        country: card.country,
        electronic_commerce_indicator: null,
        exp_month: card.exp_month,
        exp_year: card.exp_year,
        fingerprint: card.fingerprint,
        funding: card.funding,
        installments: null,
        last4: card.last4,
        mandate: null,
        network: card.brand,
        network_transaction_id: null,
        regulated_status: 'unregulated',
        three_d_secure: null,
        transaction_link_id: null,
        wallet: null,
      },
    }),
    ...(debit && {
      sepa_debit: {
        bank_code: debit.bank_code,
        branch_code: debit.branch_code,
        country: debit.country,
        fingerprint: debit.fingerprint,
        last4: debit.last4,
        mandate,
      },
    }),
  };
}
