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
  /** Minor units of `currency`, at least 1. */
  readonly amount: bigint;
  readonly currency: string;
  readonly status: PaymentStatus;
  /** What succeeded refunds gave back. */
  readonly amountRefunded: bigint;
  /** What pending refunds have reserved. */
  readonly amountRefundPending: bigint;
  readonly provider: ProviderName;
  readonly paymentMethodId: string | null;
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
  'customerId' | 'amount' | 'currency' | 'provider' | 'paymentMethodId' | 'metadata'
>;

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
 */
export function withOutcome(payment: Payment, outcome: ProviderOutcome, now: Date): Payment {
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
        dueAt: nextCheckAt(payment.attempts, now),
        attempts: payment.attempts + 1,
      };
  }
}

/** What of a payment is neither refunded nor reserved by a pending refund; nothing unless it succeeded. */
export function refundableOf(payment: Payment): bigint {
  if (payment.status !== 'succeeded') return 0n;
  return payment.amount - payment.amountRefunded - payment.amountRefundPending;
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
