import { invariant } from '../../../core/invariant';
import type { Metadata } from '../../../core/metadata';
import { lesser } from '../../../core/money';
import { isTerminal, type Transitions } from '../../../core/states';
import { nextVersion } from '../../../core/next-version';
import type { ProviderName, ProviderOutcome } from './payment-provider';
import { isSameLease, pollAgainLater, type PolledLease, type StartedLease } from './poll-lease';

export const PAYMENT_STATUSES = [
  'pending',
  'processing',
  'requires_action',
  'succeeded',
  'failed',
  'canceled',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** Money that a customer pays through a provider. */
export interface Payment {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  /** The invoice to pay; null if the money becomes the customer's credit. */
  readonly invoiceId: string | null;
  /** Number of the automatic attempt at the invoice, from 1; null if a caller asked for the payment. */
  readonly collectionAttempt: number | null;
  /** Minor units of `currency`, at least 1. */
  readonly amount: bigint;
  readonly currency: string;
  readonly status: PaymentStatus;
  /** Part of the amount that paid the invoice, set when the payment succeeds. The rest became the customer's credit. */
  readonly amountApplied: bigint;
  /** Sum of the succeeded refunds. */
  readonly amountRefunded: bigint;
  /** Sum of the pending refunds. */
  readonly amountRefundPending: bigint;
  /**
   * Amount lost in disputes. Together with refunds it may exceed the payment, if a refund and a dispute took the same money.
   */
  readonly amountLost: bigint;
  /** True while a dispute forbids refunds. */
  readonly isDisputed: boolean;
  readonly provider: ProviderName;
  /** Id of the charged payment method, or the sandbox token that the caller sent; null: neither. */
  readonly paymentMethodId: string | null;
  /** The provider's id of the payment method; null: none. A copy, because the method may change or be deleted. */
  readonly providerToken: string | null;
  /** The provider's id of the charge. */
  readonly providerReference: string | null;
  /**
   * Number in the idempotency keys of requests to the provider. Incremented only once the outcome of the last request is known.
   */
  readonly providerAttempt: number;
  /**
   * Real time of the first request with the present `providerAttempt`; null for payments stored by earlier versions of the
   * service.
   */
  readonly sentAt: Date | null;
  readonly failureCode: string | null;
  /** Principal that created it; null if it was not recorded. */
  readonly actor: string | null;
  readonly metadata: Metadata;
  /** Time of the next poll, or end of the lease of the process that is polling; null once the outcome is final. */
  readonly dueAt: Date | null;
  /** Number of the process that is asking the provider; null: none. */
  readonly leasedBy: number | null;
  /** Number of times that the provider gave no final answer. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Fields that the creator of a payment chooses. */
export type NewPayment = Pick<
  Payment,
  | 'customerId'
  | 'invoiceId'
  | 'collectionAttempt'
  | 'amount'
  | 'currency'
  | 'provider'
  | 'paymentMethodId'
  | 'providerToken'
  | 'actor'
  | 'metadata'
>;

/** Payment method that a caller asks for. The service chooses the fields that are null. */
export interface MethodChoice {
  readonly provider: ProviderName | null;
  readonly paymentMethodId: string | null;
}

/** Payment that a caller asks for. */
export interface PaymentRequest extends MethodChoice {
  readonly customerId: string;
  readonly invoiceId: string | null;
  readonly amount: bigint;
  readonly currency: string;
  readonly metadata: Metadata;
}

/** `succeeded` is final for the charge; refunds are counted separately. */
export const PAYMENT_TRANSITIONS: Transitions<PaymentStatus> = {
  pending: ['processing', 'requires_action', 'succeeded', 'failed', 'canceled'],
  processing: ['requires_action', 'succeeded', 'failed', 'canceled'],
  requires_action: ['processing', 'succeeded', 'failed', 'canceled'],
  succeeded: [],
  failed: [],
  canceled: [],
};

/** Returns true if the outcome of the charge is final. */
export function hasEnded({ status }: Pick<Payment, 'status'>): boolean {
  return isTerminal(PAYMENT_TRANSITIONS, status);
}

/** Id, lease and start time of a payment that is not written yet. */
export interface StartedPayment extends StartedLease {
  readonly id: string;
  /** The provider's id of the charge, if it was already made. */
  readonly reference?: string;
}

/**
 * Returns a pending payment, before the request to its provider.
 * @param now on the customer's clock
 */
export function newPayment(
  { id, lease, startedAt: sentAt, reference }: StartedPayment,
  fields: NewPayment,
  now: Date,
): Payment {
  const { customerId, invoiceId, collectionAttempt, amount, currency, metadata } = fields;
  const { provider, paymentMethodId, providerToken, actor } = fields;
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
    amountLost: 0n,
    isDisputed: false,
    provider,
    paymentMethodId,
    providerToken,
    providerReference: reference ?? null,
    providerAttempt: 1,
    sentAt,
    failureCode: null,
    actor,
    metadata,
    dueAt: lease.endsAt,
    leasedBy: lease.owner,
    attempts: 0,
    createdAt: now,
    updatedAt: now,
  };
}

/** Time that the customer has to confirm a payment. */
const ACTION_MS = 24 * 3_600_000;

/** Returns the instant at which a payment that waits for its customer is canceled. */
export function actionExpiresAt({
  sentAt,
  createdAt,
}: Pick<Payment, 'sentAt' | 'createdAt'>): Date {
  return new Date((sentAt ?? createdAt).getTime() + ACTION_MS);
}

/** A provider's answer, with the lease under which it was asked. */
export interface PolledOutcome {
  readonly outcome: ProviderOutcome;
  /** Time of the machine, because providers do not know test clocks. */
  readonly askedAt: Date;
  /**
   * Lease of the payment when the provider was asked. An answer that is not final plans the next poll only under the same
   * lease.
   */
  readonly lease: PolledLease;
}

/**
 * Applies a provider's answer to a payment. Returns the same payment if its outcome is already final. An answer that is not
 * final plans the next poll, unless the payment is under another lease by now.
 * @param now on the customer's clock
 */
export function withOutcome(
  payment: Payment,
  { outcome, askedAt, lease }: PolledOutcome,
  now: Date,
): Payment {
  if (isTerminal(PAYMENT_TRANSITIONS, payment.status)) return payment;
  const next = nextVersion(payment, now);
  const done = { dueAt: null, leasedBy: null };
  const plan = isSameLease(payment, lease) ? pollAgainLater(payment, askedAt) : {};
  switch (outcome.kind) {
    case 'succeeded':
    case 'canceled':
      return { ...next, ...done, status: outcome.kind, providerReference: outcome.reference };
    case 'failed':
      return { ...next, ...done, status: 'failed', failureCode: outcome.failureCode };
    case 'not_sent':
      return { ...payment, ...plan };
    case 'requires_action':
      return {
        ...next,
        status: 'requires_action',
        providerReference: outcome.reference,
        ...notAfter(plan, actionExpiresAt(payment)),
      };
    case 'pending':
    case 'unknown':
      return {
        ...next,
        // A poll without an answer does not show whether the customer still has to act.
        status:
          outcome.kind === 'unknown' && payment.status === 'requires_action'
            ? 'requires_action'
            : 'processing',
        providerReference:
          outcome.kind === 'pending' ? outcome.reference : payment.providerReference,
        ...plan,
      };
  }
}

/** Returns the plan of the next poll, moved to the limit if it is later. */
function notAfter(
  plan: Partial<ReturnType<typeof pollAgainLater>>,
  limit: Date,
): Partial<ReturnType<typeof pollAgainLater>> {
  const { dueAt } = plan;
  return dueAt !== undefined && dueAt > limit ? { ...plan, dueAt: limit } : plan;
}

/**
 * Returns a failed or canceled payment as succeeded, because its provider later reported a success.
 * @param now on the customer's clock
 */
export function correctedToSucceeded(payment: Payment, reference: string, now: Date): Payment {
  invariant(
    payment.status === 'failed' || payment.status === 'canceled',
    `The payment ${payment.id} is ${payment.status}.`,
  );
  return nextVersion(payment, now, {
    status: 'succeeded',
    providerReference: reference,
    failureCode: null,
  });
}

/** Returns the part of a payment that was refunded, is reserved by pending refunds, or was lost in disputes. */
export function returnedOf({
  amountRefunded,
  amountRefundPending,
  amountLost,
}: Pick<Payment, 'amountRefunded' | 'amountRefundPending' | 'amountLost'>): bigint {
  return amountRefunded + amountRefundPending + amountLost;
}

/**
 * Returns the refundable part of a payment: the part that is not refunded, reserved by a pending refund, lost in a dispute or
 * used. Zero unless the payment succeeded.
 * @param usedMinor part that invoices used as credit, or that credit notes gave back as credit
 * @param creditMinor other credit of the customer, which a refund may pay out as well
 */
export function refundableOf(payment: Payment, usedMinor: bigint, creditMinor = 0n): bigint {
  if (payment.status !== 'succeeded') return 0n;
  const left = payment.amount - returnedOf(payment);
  const free = left > usedMinor ? left - usedMinor : 0n;
  return left > 0n ? lesser(left, free + creditMinor) : 0n;
}

/** Returns true if no part of the payment became credit. */
export function isAllApplied({
  amount,
  amountApplied,
}: Pick<Payment, 'amount' | 'amountApplied'>): boolean {
  return amountApplied === amount;
}

/** Returns a payment that no longer pays its invoice. Its whole amount is then the customer's credit. */
export function withoutInvoice(payment: Payment, now: Date): Payment {
  return nextVersion(payment, now, { amountApplied: 0n });
}

export type RefundDecision =
  | { readonly kind: 'reserve'; readonly amount: bigint }
  | { readonly kind: 'not_succeeded' }
  | { readonly kind: 'disputed' }
  | { readonly kind: 'exceeds'; readonly refundable: bigint };

/**
 * Decides on a refund. The payment must have succeeded, and no dispute may forbid refunds. The amount must be at least 1 and at
 * most what {@link refundableOf} returns.
 * @param requested minor units; null for all that can be refunded without other credit
 * @param usedMinor part that invoices used as credit, or that credit notes gave back as credit
 * @param creditMinor other credit of the customer, which the refund may pay out too
 */
export function decideRefund(
  payment: Payment,
  requested: bigint | null,
  usedMinor: bigint,
  creditMinor: bigint,
): RefundDecision {
  if (payment.status !== 'succeeded') return { kind: 'not_succeeded' };
  if (payment.isDisputed) return { kind: 'disputed' };
  const refundable = refundableOf(payment, usedMinor, creditMinor);
  const amount = requested ?? refundableOf(payment, usedMinor);
  if (amount < 1n || amount > refundable) return { kind: 'exceeds', refundable };
  return { kind: 'reserve', amount };
}
