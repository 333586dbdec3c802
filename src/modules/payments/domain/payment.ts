import { invariant } from '../../../core/invariant';
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
  /** Number of the process that asks the provider now; null: nobody does, or a process without a number. */
  readonly leasedBy: number | null;
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
const ASKING_LEASE_MS = 150_000;

/** The right of a process to ask a provider about something, until it ends or the process dies. */
export interface Lease {
  readonly endsAt: Date;
  /** Number of the process; null while it has none. */
  readonly owner: number | null;
}

/** @param realNow providers know no test clocks */
export function askingLease(realNow: Date, owner: number | null): Lease {
  return { endsAt: new Date(realNow.getTime() + ASKING_LEASE_MS), owner };
}

/**
 * A payment before the provider is asked.
 * @param now on the customer's clock
 * @param lease of the process that asks
 */
export function newPayment(id: string, order: PaymentOrder, now: Date, lease: Lease): Payment {
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
    dueAt: lease.endsAt,
    leasedBy: lease.owner,
    attempts: 0,
    createdAt: now,
    updatedAt: now,
  };
}

const SECOND_MS = 1_000;
const FIRST_CHECK_MS = 5 * SECOND_MS;
const LONGEST_CHECK_MS = 3_600 * SECOND_MS;

/** When to ask again about something without a final outcome: after 5 s, then twice as long each time, up to an hour. */
function nextCheckAt(attempts: number, now: Date): Date {
  return new Date(now.getTime() + Math.min(FIRST_CHECK_MS * 2 ** attempts, LONGEST_CHECK_MS));
}

/** A provider's answer, and who asked for it. */
export interface AskedOutcome {
  readonly outcome: ProviderOutcome;
  /** By the clock of the machine: providers know no test clocks. */
  readonly askedAt: Date;
  /** Holder of the lease under which the provider was asked: the fencing token of an answer that is not final. */
  readonly leasedBy: number | null;
}

/**
 * What a provider's answer makes of a payment. Returns the same payment where its outcome is final already. An answer that
 * is not final plans the next look only for the holder of the lease: another process may be asking by now.
 * @param now on the customer's clock
 */
export function withOutcome(
  payment: Payment,
  { outcome, askedAt, leasedBy }: AskedOutcome,
  now: Date,
): Payment {
  if (isTerminal(PAYMENT_TRANSITIONS, payment.status)) return payment;
  const next = { ...payment, version: payment.version + 1, updatedAt: now };
  const done = { dueAt: null, leasedBy: null };
  switch (outcome.kind) {
    case 'succeeded':
      return { ...next, ...done, status: 'succeeded', providerReference: outcome.reference };
    case 'failed':
      return { ...next, ...done, status: 'failed', failureCode: outcome.failureCode };
    case 'pending':
    case 'unknown':
      return {
        ...next,
        status: mayBecome(PAYMENT_TRANSITIONS, payment.status, 'processing')
          ? 'processing'
          : payment.status,
        providerReference:
          outcome.kind === 'pending' ? outcome.reference : payment.providerReference,
        ...(payment.leasedBy === leasedBy ? askAgainLater(payment, askedAt) : {}),
      };
  }
}

/**
 * A failed or canceled payment that succeeded after all, as its provider reported later.
 * @param now on the customer's clock
 */
export function correctedToSucceeded(payment: Payment, reference: string, now: Date): Payment {
  invariant(
    payment.status === 'failed' || payment.status === 'canceled',
    `The payment ${payment.id} is ${payment.status}.`,
  );
  return {
    ...payment,
    version: payment.version + 1,
    status: 'succeeded',
    providerReference: reference,
    failureCode: null,
    updatedAt: now,
  };
}

/** The columns of something that its provider is to be asked about again, by any process. */
export function askAgainLater(
  { attempts }: { readonly attempts: number },
  askedAt: Date,
): { readonly dueAt: Date; readonly leasedBy: null; readonly attempts: number } {
  return { dueAt: nextCheckAt(attempts, askedAt), leasedBy: null, attempts: attempts + 1 };
}

/**
 * The part of a payment that can be refunded: neither refunded, nor reserved by a pending refund, nor credit that invoices
 * have used. Zero unless the payment succeeded.
 * @param usedMinor the part that invoices have used as credit
 */
export function refundableOf(payment: Payment, usedMinor: bigint): bigint {
  if (payment.status !== 'succeeded') return 0n;
  const left = payment.amount - payment.amountRefunded - payment.amountRefundPending - usedMinor;
  return left > 0n ? left : 0n;
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
 * Decides on a refund: of a succeeded payment, for 1 up to what is refundable.
 * @param requested minor units; null for all that remains
 * @param usedMinor the part that invoices have used as credit
 */
export function decideRefund(
  payment: Payment,
  requested: bigint | null,
  usedMinor: bigint,
): RefundDecision {
  if (payment.status !== 'succeeded') return { kind: 'not_succeeded' };
  const refundable = refundableOf(payment, usedMinor);
  const amount = requested ?? refundable;
  if (amount < 1n || amount > refundable) return { kind: 'exceeds', refundable };
  return { kind: 'reserve', amount };
}
