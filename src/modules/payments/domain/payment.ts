import type { Metadata } from '../../../core/metadata';
import { isTerminal, mayBecome, type Transitions } from '../../../core/states';
import type { ProviderName, ProviderOutcome } from './payment-provider';

export const PAYMENT_STATUSES = [
  'pending',
  'processing',
  'requires_action',
  'succeeded',
  'failed',
  'canceled',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** Money that a customer pays, through a provider. */
export interface Payment {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  /** The invoice it is to pay; null: it becomes the customer's credit. */
  readonly invoiceId: string | null;
  /** Which automatic attempt at the invoice it is, from 1; null: somebody asked for it. */
  readonly collectionAttempt: number | null;
  /** Minor units of `currency`, at least 1. */
  readonly amount: bigint;
  readonly currency: string;
  readonly status: PaymentStatus;
  /** What of it paid the invoice, once it succeeded. The rest is the customer's credit. */
  readonly amountApplied: bigint;
  /** What succeeded refunds gave back. */
  readonly amountRefunded: bigint;
  /** What pending refunds have reserved. */
  readonly amountRefundPending: bigint;
  readonly provider: ProviderName;
  /** As the caller named it. */
  readonly paymentMethodId: string | null;
  /** What the provider is told to charge; kept, so that it stays the same whatever becomes of the method. */
  readonly providerToken: string | null;
  /** The provider's own name for the charge. */
  readonly providerReference: string | null;
  readonly failureCode: string | null;
  readonly metadata: Metadata;
  /** When the provider is to be asked again; null once the outcome is final. Also the lease of whoever asks now. */
  readonly dueAt: Date | null;
  /** How often the provider was asked without a final answer. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new payment is made of. */
export type PaymentOrder = Pick<
  Payment,
  | 'customerId'
  | 'invoiceId'
  | 'collectionAttempt'
  | 'amount'
  | 'currency'
  | 'provider'
  | 'paymentMethodId'
  | 'providerToken'
  | 'metadata'
>;

/** What a caller wants to be charged; what is left out is chosen for it. */
export interface MethodChoice {
  readonly provider: ProviderName | null;
  readonly paymentMethodId: string | null;
}

/** A payment as it is asked for. */
export interface PaymentRequest extends MethodChoice {
  readonly customerId: string;
  readonly invoiceId: string | null;
  readonly amount: bigint;
  readonly currency: string;
  readonly metadata: Metadata;
}

/** What a list is narrowed to; null: not narrowed. */
export interface PaymentFilter {
  readonly customerId: string | null;
  readonly invoiceId: string | null;
}

/** `succeeded` is final for the charge; refunds are counted beside it. */
export const PAYMENT_TRANSITIONS: Transitions<PaymentStatus> = {
  pending: ['processing', 'requires_action', 'succeeded', 'failed', 'canceled'],
  processing: ['requires_action', 'succeeded', 'failed', 'canceled'],
  requires_action: ['processing', 'succeeded', 'failed', 'canceled'],
  succeeded: [],
  failed: [],
  canceled: [],
};

/**
 * Who asks the provider has this long before somebody else may: longer than asking what became of something and then
 * making it, each up to the deadline of a call (30 s), and writing down what came of it.
 */
export const ASKING_LEASE_MS = 150_000;

/**
 * A payment before the provider is asked.
 * @param now on the customer's clock
 * @param realNow begins the lease of whoever asks
 */
export function newPayment(id: string, order: PaymentOrder, now: Date, realNow: Date): Payment {
  const { customerId, invoiceId, collectionAttempt, amount, currency, metadata } = order;
  const { provider, paymentMethodId, providerToken } = order;
  return {
    id,
    version: 1,
    customerId,
    invoiceId,
    collectionAttempt,
    amount,
    currency,
    status: 'pending',
    amountApplied: 0n,
    amountRefunded: 0n,
    amountRefundPending: 0n,
    provider,
    paymentMethodId,
    providerToken,
    providerReference: null,
    failureCode: null,
    metadata,
    dueAt: new Date(realNow.getTime() + ASKING_LEASE_MS),
    attempts: 0,
    createdAt: now,
    updatedAt: now,
  };
}

const SECOND_MS = 1_000;
const FIRST_CHECK_MS = 5 * SECOND_MS;
const LONGEST_CHECK_MS = 3_600 * SECOND_MS;

/** When to ask again about something without a final outcome: after 5 s, then twice as long each time, up to an hour. */
export function nextCheckAt(attempts: number, now: Date): Date {
  return new Date(now.getTime() + Math.min(FIRST_CHECK_MS * 2 ** attempts, LONGEST_CHECK_MS));
}

/**
 * What a provider's answer makes of a payment. Returns the same payment where the answer comes too late to matter: its
 * outcome is final already, and the provider was asked with the same key both times.
 * @param now on the customer's clock
 * @param askedAt really: providers know no test clocks
 */
export function withOutcome(
  payment: Payment,
  outcome: ProviderOutcome,
  now: Date,
  askedAt: Date,
): Payment {
  if (isTerminal(PAYMENT_TRANSITIONS, payment.status)) return payment;
  const next = { ...payment, version: payment.version + 1, updatedAt: now };
  switch (outcome.kind) {
    case 'succeeded':
      return { ...next, status: 'succeeded', providerReference: outcome.reference, dueAt: null };
    case 'failed':
      return { ...next, status: 'failed', failureCode: outcome.failureCode, dueAt: null };
    case 'pending':
    case 'unknown':
      return {
        ...next,
        status: mayBecome(PAYMENT_TRANSITIONS, payment.status, 'processing')
          ? 'processing'
          : payment.status,
        providerReference:
          outcome.kind === 'pending' ? outcome.reference : payment.providerReference,
        dueAt: nextCheckAt(payment.attempts, askedAt),
        attempts: payment.attempts + 1,
      };
  }
}

/** What of a payment is neither refunded nor reserved by a pending refund; nothing unless it succeeded. */
export function refundableOf(payment: Payment): bigint {
  if (payment.status !== 'succeeded') return 0n;
  return payment.amount - payment.amountRefunded - payment.amountRefundPending;
}

/**
 * What of a further refund comes out of the customer's credit: the part of the payment that paid no invoice goes back
 * first. The rest was revenue, and meets its credit note on the refunds account.
 */
export function creditPartOf(payment: Payment, refund: bigint): bigint {
  const isCredit = payment.amount - payment.amountApplied;
  const upTo = (refunded: bigint): bigint => (refunded < isCredit ? refunded : isCredit);
  return upTo(payment.amountRefunded + refund) - upTo(payment.amountRefunded);
}

/** What was given back of the part that paid an invoice. */
export function refundedOfInvoice(payment: Payment): bigint {
  return (
    payment.amountRefunded -
    creditPartOf({ ...payment, amountRefunded: 0n }, payment.amountRefunded)
  );
}

/** A payment whose invoice is withdrawn: all of it is the customer's credit. */
export function takenOff(payment: Payment, now: Date): Payment {
  return { ...payment, amountApplied: 0n, version: payment.version + 1, updatedAt: now };
}

export type RefundDecision =
  | { readonly kind: 'reserve'; readonly amount: bigint }
  | { readonly kind: 'not_succeeded' }
  | { readonly kind: 'exceeds'; readonly refundable: bigint };

/**
 * Whether a refund may be made: of a succeeded payment, for 1 up to what is neither refunded nor pending.
 * @param requested minor units; null for all that remains
 */
export function decideRefund(payment: Payment, requested: bigint | null): RefundDecision {
  if (payment.status !== 'succeeded') return { kind: 'not_succeeded' };
  const refundable = refundableOf(payment);
  const amount = requested ?? refundable;
  if (amount < 1n || amount > refundable) return { kind: 'exceeds', refundable };
  return { kind: 'reserve', amount };
}
