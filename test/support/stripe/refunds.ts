import type Stripe from 'stripe';
import { type Account } from './account';
import { movement } from './balance';
import { checkMultiple } from './currencies';
import { invalidRequest, noSuch } from './errors';
import { idOf, mergedMetadata } from './fields';
import { type RequestParameters } from './parameters';
import { findPaymentIntent } from './payment-intents';
import { DEBIT_DELAY_MS } from './test-methods';

/** @throws Refusal (400) for more than is left to refund, a disputed charge, or an intent without a successful charge. */
export function createRefund(
  account: Account,
  parameters: RequestParameters['refunds.create'],
): Stripe.Refund {
  const charge = refundableCharge(account, parameters);
  const left = charge.amount_captured - charge.amount_refunded;
  const amount = parameters.amount ?? left;
  if (left === 0) {
    throw invalidRequest(`Charge ${charge.id} has already been refunded.`, {
      code: 'charge_already_refunded',
    });
  }
  if (amount < 1) {
    throw invalidRequest('This value must be greater than or equal to 1.', {
      code: 'parameter_invalid_integer',
      param: 'amount',
    });
  }
  if (amount > left) {
    throw invalidRequest(
      `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`,
      { param: 'amount' },
    );
  }
  checkMultiple(amount, charge.currency);
  const method = idOf(charge.payment_method);
  const behaviour = account.behaviours.get(method)?.refund ?? 'succeeds';
  const refund: Stripe.Refund = {
    id: account.newId('re'),
    object: 'refund',
    amount,
    balance_transaction: null,
    charge: charge.id,
    created: account.now,
    currency: charge.currency,
    customer: charge.customer,
    customer_account: null,
    metadata: mergedMetadata({}, parameters.metadata),
    payment_intent: charge.payment_intent,
    payment_method: method,
    reason: parameters.reason ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: behaviour === 'pending' ? 'pending' : 'succeeded',
    transfer_reversal: null,
  };
  refund.balance_transaction = movement(account, {
    type: charge.id.startsWith('ch_') ? 'refund' : 'payment_refund',
    reportingCategory: 'refund',
    amount: -amount,
    currency: charge.currency,
    source: refund.id,
  }).id;
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded === charge.amount_captured;
  account.refunds.set(refund.id, refund);
  account.record('charge.refunded', charge);
  account.record('refund.created', refund);
  if (behaviour === 'pending') account.later(DEBIT_DELAY_MS, () => succeedRefund(account, refund));
  if (behaviour === 'fails_later') {
    account.later(DEBIT_DELAY_MS, () => failRefund(account, refund, 'lost_or_stolen_card'));
  }
  return refund;
}

/** @throws Refusal (404) */
export function findRefund(account: Account, id: string): Stripe.Refund {
  const refund = account.refunds.get(id);
  if (!refund) throw noSuch('refund', id, 'id');
  return refund;
}

export function succeedRefund(account: Account, refund: Stripe.Refund): void {
  if (refund.status !== 'pending') return;
  refund.status = 'succeeded';
  recordChange(account, refund, { status: 'pending' });
}

/**
 * Fails a refund, because the bank of the customer refused it. The money returns to the account. A refund can fail even
 * after it succeeded.
 */
export function failRefund(account: Account, refund: Stripe.Refund, reason: string): void {
  if (refund.status === 'failed') return;
  const previous = { status: refund.status };
  refund.status = 'failed';
  refund.failure_reason = reason;
  refund.failure_balance_transaction = movement(account, {
    type: 'refund_failure',
    reportingCategory: 'refund_failure',
    amount: refund.amount,
    currency: refund.currency,
    source: refund.id,
  }).id;
  const charge = account.charges.get(idOf(refund.charge));
  if (charge) {
    charge.amount_refunded -= refund.amount;
    charge.refunded = false;
  }
  recordChange(account, refund, previous);
  account.record('refund.failed', refund);
}

function recordChange(account: Account, refund: Stripe.Refund, previous: object): void {
  account.record('refund.updated', refund, previous);
  account.record('charge.refund.updated', refund, previous);
}

function refundableCharge(
  account: Account,
  { payment_intent: intentId, charge: chargeId }: RequestParameters['refunds.create'],
): Stripe.Charge {
  if ((intentId === undefined) === (chargeId === undefined)) {
    throw invalidRequest(
      'One of the following params should be provided: payment_intent or charge.',
    );
  }
  const intent =
    intentId === undefined ? null : findPaymentIntent(account, intentId, 'payment_intent');
  const id = chargeId ?? idOf(intent?.latest_charge);
  const charge = account.charges.get(id);
  if (intent && charge?.status !== 'succeeded') {
    throw invalidRequest(
      `This PaymentIntent (${intent.id}) does not have a successful charge to refund.`,
      { param: 'payment_intent' },
    );
  }
  if (!charge) throw noSuch('charge', id, 'charge');
  if (charge.status !== 'succeeded') {
    throw invalidRequest(`Charge ${id} has not succeeded and cannot be refunded.`, {
      param: 'charge',
    });
  }
  const dispute = [...account.disputes.values()].findLast((each) => each.charge === id);
  if (dispute && !dispute.is_charge_refundable && dispute.status !== 'won') {
    throw invalidRequest(`Charge ${id} has been charged back; cannot issue a refund.`, {
      code: 'charge_disputed',
    });
  }
  return charge;
}
