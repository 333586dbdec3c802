import { invariant } from '../../../core/invariant';
import type { Metadata } from '../../../core/metadata';
import { isTerminal, type Transitions } from '../../../core/states';
import { isMisdated, nextVersion } from '../../../core/next-version';
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

export interface Payment {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  /** The invoice to pay; null if the money becomes the customer's credit. */
  readonly invoiceId: string | null;
  /**
   * Number of the attempt to charge the invoice automatically, from 1. Null: a caller requested the payment, or the
   * payment was recorded from a charge that was found at the provider.
   */
  readonly collectionAttempt: number | null;
  /** Minor units of `currency`, at least 1. */
  readonly amount: bigint;
  readonly currency: string;
  readonly status: PaymentStatus;
  /**
   * Part of the amount that paid the invoice. Set when the payment succeeds; the rest of the amount then becomes the
   * customer's credit.
   */
  readonly amountApplied: bigint;
  /** Sum of the succeeded refunds. */
  readonly amountRefunded: bigint;
  /** Sum of the pending refunds. */
  readonly amountRefundPending: bigint;
  /**
   * Amount lost in disputes. Refunds and losses together can exceed the payment, if a refund and a dispute took the
   * same money.
   */
  readonly amountLost: bigint;
  /** True while at least one dispute forbids refunds. */
  readonly isDisputed: boolean;
  readonly provider: ProviderName;
  /**
   * Id of the charged payment method, or the sandbox token that the caller sent. Null: the payment has no method, or
   * was recorded from a charge that was found at the provider.
   */
  readonly paymentMethodId: string | null;
  /**
   * The provider's id of the charged payment method; null: none. Copied from the method, because the method may be
   * deleted before the provider is asked again.
   */
  readonly providerToken: string | null;
  /** The provider's id of the charge; null: not known yet, or never charged. */
  readonly providerReference: string | null;
  /**
   * Number, from 1, that is part of the idempotency keys sent to the provider. Incremented only after the outcome of
   * the last request is known.
   */
  readonly providerAttempt: number;
  /**
   * Real time of the first request with the current `providerAttempt`; null for payments that an earlier version of the
   * service stored.
   */
  readonly sentAt: Date | null;
  readonly failureCode: string | null;
  /**
   * Id of the caller that created the payment, or `worker` for background work; null for payments that an earlier
   * version of the service stored.
   */
  readonly actor: string | null;
  readonly metadata: Metadata;
  /** Time of the next poll. During a poll: the end of the lease of the polling process. Null: the outcome is final. */
  readonly dueAt: Date | null;
  /** Number of the process that is polling the payment; null: none. */
  readonly leasedBy: number | null;
  /** Number of calls to the provider that did not give a final outcome. */
  readonly attempts: number;
  /** Part of `attempts`: calls whose result was not stored because the database failed. */
  readonly interruptions: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

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

/** Payment method and provider that a request names. If a field is null, the service chooses its value. */
export interface MethodChoice {
  readonly provider: ProviderName | null;
  readonly paymentMethodId: string | null;
}

export interface PaymentRequest extends MethodChoice {
  readonly customerId: string;
  readonly invoiceId: string | null;
  readonly amount: bigint;
  readonly currency: string;
  readonly metadata: Metadata;
}

/** Refunds do not change the status of a succeeded payment. */
export const PAYMENT_TRANSITIONS: Transitions<PaymentStatus> = {
  pending: ['processing', 'requires_action', 'succeeded', 'failed', 'canceled'],
  processing: ['requires_action', 'succeeded', 'failed', 'canceled'],
  requires_action: ['processing', 'succeeded', 'failed', 'canceled'],
  succeeded: [],
  failed: [],
  canceled: [],
};

export function hasEnded({ status }: Pick<Payment, 'status'>): boolean {
  return isTerminal(PAYMENT_TRANSITIONS, status);
}

/** Id and lease of a payment that is not stored yet. */
export interface StartedPayment extends StartedLease {
  readonly id: string;
  /** The provider's id of the charge, if the charge was already made. */
  readonly reference?: string;
}

/** @param now time on the customer's clock */
export function newPayment(
  { id, lease, startedAt: sentAt, reference }: StartedPayment,
  fields: NewPayment,
  now: Date,
): Payment {
  return {
    ...fields,
    id,
    version: 1,
    status: 'pending',
    amountApplied: 0n,
    amountRefunded: 0n,
    amountRefundPending: 0n,
    amountLost: 0n,
    isDisputed: false,
    providerReference: reference ?? null,
    providerAttempt: 1,
    sentAt,
    failureCode: null,
    dueAt: lease.endsAt,
    leasedBy: lease.owner,
    attempts: 0,
    interruptions: 0,
    createdAt: now,
    updatedAt: now,
  };
}

/** Time in which the customer must confirm a payment. */
const ACTION_MS = 24 * 3_600_000;

/** Returns the instant at which a payment is canceled if the customer has not confirmed it. */
export function actionExpiresAt({
  sentAt,
  createdAt,
}: Pick<Payment, 'sentAt' | 'createdAt'>): Date {
  return new Date((sentAt ?? createdAt).getTime() + ACTION_MS);
}

/**
 * Returns `sentAt` of a payment, or `now` if a clock that was ahead dated the payment. Without this correction, the
 * payment would wait for its customer until a day after the wrong date.
 */
function sentAtBy({ sentAt, createdAt }: Payment, now: Date): Date | null {
  return isMisdated(sentAt ?? createdAt, now) ? now : sentAt;
}

/**
 * Returns the outcome to apply to a locked payment. An outcome that is valid only without a charge (`hasNoCharge`)
 * becomes `unknown` if the payment has got a charge meanwhile.
 */
export function validOutcome(
  { providerReference }: Payment,
  outcome: ProviderOutcome,
): ProviderOutcome {
  const isOutdated = 'hasNoCharge' in outcome && providerReference !== null;
  return isOutdated ? { kind: 'unknown' } : outcome;
}

/** A provider's answer, and the lease under which the provider was called. */
export interface PolledOutcome {
  readonly outcome: ProviderOutcome;
  /** Real time of the call, because providers do not know test clocks. */
  readonly askedAt: Date;
  readonly lease: PolledLease;
}

/**
 * Applies a provider's answer to a payment. Returns the same payment if its outcome is already final. If the answer is
 * not final, plans the next poll, unless another call has taken over the lease meanwhile.
 * @param now time on the customer's clock
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
      return {
        ...next,
        ...done,
        status: outcome.kind,
        providerReference: outcome.reference ?? payment.providerReference,
      };
    case 'failed':
      return { ...next, ...done, status: 'failed', failureCode: outcome.failureCode };
    case 'not_sent':
      return { ...payment, ...plan };
    case 'requires_action': {
      const { kind: status, reference: providerReference } = outcome;
      const sentAt = sentAtBy(payment, askedAt);
      const expiresAt = actionExpiresAt({ ...payment, sentAt });
      const change = { status, providerReference, sentAt, ...notAfter(plan, expiresAt) };
      return withOpenOutcome(payment, change, now);
    }
    case 'pending': {
      const change = { status: 'processing' as const, providerReference: outcome.reference };
      return withOpenOutcome(payment, { ...change, ...plan }, now);
    }
    case 'unknown': {
      // A poll without an answer does not show whether the customer still has to act.
      const status = payment.status === 'requires_action' ? 'requires_action' : 'processing';
      return withOpenOutcome(payment, { status, ...plan }, now);
    }
  }
}

/**
 * Applies an answer that is not final. Increments the version only if the status changes, because the API does not show
 * the other changed fields.
 */
function withOpenOutcome(
  payment: Payment,
  change: Partial<Payment> & Pick<Payment, 'status'>,
  now: Date,
): Payment {
  return change.status === payment.status
    ? { ...payment, ...change }
    : nextVersion(payment, now, change);
}

function notAfter(
  plan: Partial<ReturnType<typeof pollAgainLater>>,
  limit: Date,
): Partial<ReturnType<typeof pollAgainLater>> {
  const { dueAt } = plan;
  return dueAt !== undefined && dueAt > limit ? { ...plan, dueAt: limit } : plan;
}

/**
 * Changes a failed or canceled payment to succeeded, because the provider reported the success later.
 * @param now time on the customer's clock
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

/** Returns the amount of a payment that was refunded, is reserved by pending refunds, or was lost in disputes. */
export function returnedOf({
  amountRefunded,
  amountRefundPending,
  amountLost,
}: Pick<Payment, 'amountRefunded' | 'amountRefundPending' | 'amountLost'>): bigint {
  return amountRefunded + amountRefundPending + amountLost;
}

/** Returns true if the whole payment paid the invoice, so that no part became credit. */
export function isAllApplied({
  amount,
  amountApplied,
}: Pick<Payment, 'amount' | 'amountApplied'>): boolean {
  return amountApplied === amount;
}

/** Returns a payment that no longer pays its invoice. The caller adds the money to the customer's credit. */
export function withoutInvoice(payment: Payment, now: Date): Payment {
  return nextVersion(payment, now, { amountApplied: 0n });
}
