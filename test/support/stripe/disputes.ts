import type Stripe from 'stripe';
import { type Account } from './account';
import { movement } from './balance';
import { noSuch } from './errors';
import { type BankBehaviour } from './test-methods';

export type DisputeCause = NonNullable<BankBehaviour['dispute']>;

const DISPUTE_FEE = 1500;
const DAYS_TO_ANSWER = 7;

/**
 * Opens a dispute, over the whole charge by default. A chargeback withdraws the money at once; an inquiry does not. The
 * return of a debit cannot be contested, so the dispute is lost at once.
 */
export function openDispute(
  account: Account,
  charge: Stripe.Charge,
  cause: DisputeCause,
  amount = charge.amount,
): Stripe.Dispute {
  const inquiry = cause === 'inquiry';
  const dispute: Stripe.Dispute = {
    id: account.newId('dp'),
    object: 'dispute',
    amount,
    balance_transactions: [],
    charge: charge.id,
    created: account.now,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: NO_EVIDENCE,
    evidence_details: {
      due_by: account.now + DAYS_TO_ANSWER * 86_400,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'not_submitted',
    },
    intended_submission_method: null,
    is_charge_refundable: inquiry,
    livemode: account.livemode,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: inquiry ? 'fraudulent' : cause === 'bank_return' ? 'debit_not_authorized' : cause,
    status: inquiry ? 'warning_needs_response' : 'needs_response',
  };
  account.disputes.set(dispute.id, dispute);
  charge.disputed = true;
  account.record('charge.dispute.created', dispute);
  if (inquiry) return dispute;
  withdraw(account, dispute);
  if (cause === 'bank_return') closeDispute(account, dispute, 'lost');
  return dispute;
}

/** Turns an inquiry into a chargeback, which withdraws the money. */
export function escalateInquiry(account: Account, dispute: Stripe.Dispute): void {
  const previous = { status: dispute.status };
  dispute.status = 'needs_response';
  dispute.is_charge_refundable = false;
  account.record('charge.dispute.updated', dispute, previous);
  withdraw(account, dispute);
}

/** Opens a decided dispute again, with another date until which the seller may answer. Moves no money. */
export function appealDispute(account: Account, dispute: Stripe.Dispute): void {
  const previous = { status: dispute.status };
  if (dispute.status !== 'won' && dispute.status !== 'lost')
    throw new Error(`The dispute ${dispute.id} is ${dispute.status}: it is not decided.`);
  dispute.status = 'appeal_needs_response';
  dispute.evidence_details.due_by = account.now + DAYS_TO_ANSWER * 86_400;
  account.record('charge.dispute.updated', dispute, previous);
}

/** Ends a dispute. A chargeback that is won returns the money once, but not the fee. */
export function closeDispute(
  account: Account,
  dispute: Stripe.Dispute,
  result: 'won' | 'lost' | 'warning_closed',
): void {
  const open =
    result === 'warning_closed'
      ? dispute.status.startsWith('warning_needs')
      : ['needs_response', 'appeal_needs_response'].includes(dispute.status);
  if (!open)
    throw new Error(`The dispute ${dispute.id} is ${dispute.status}: it cannot become ${result}.`);
  dispute.status = result;
  if (result === 'won' && !dispute.balance_transactions.some(({ amount }) => amount > 0)) {
    dispute.balance_transactions.push(
      movement(account, {
        type: 'adjustment',
        reportingCategory: 'dispute_reversal',
        amount: dispute.amount,
        currency: dispute.currency,
        source: dispute.id,
      }),
    );
    account.record('charge.dispute.funds_reinstated', dispute);
  }
  account.record('charge.dispute.closed', dispute);
}

/** @throws Refusal (404) */
export function findDispute(account: Account, id: string): Stripe.Dispute {
  const dispute = account.disputes.get(id);
  if (!dispute) throw noSuch('dispute', id, 'id');
  return dispute;
}

function withdraw(account: Account, dispute: Stripe.Dispute): void {
  dispute.balance_transactions.push(
    movement(account, {
      type: 'adjustment',
      reportingCategory: 'dispute',
      amount: -dispute.amount,
      currency: dispute.currency,
      source: dispute.id,
      fee: DISPUTE_FEE,
    }),
  );
  account.record('charge.dispute.funds_withdrawn', dispute);
}

const NO_EVIDENCE: Stripe.Dispute.Evidence = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
};
