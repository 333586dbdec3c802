import { canonicalJson } from '../../../core/canonical-json';
import { invariant } from '../../../core/invariant';
import type { Metadata } from '../../../core/metadata';
import type { AmountRange } from '../../../core/money';
import type { InstantRange } from '../../../core/time';
import { mayBecome, type Transitions } from '../../../core/states';
import { isMisdated, nextVersion } from '../../../core/next-version';

export const REFUND_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_SOURCES = ['api', 'provider'] as const;
/**
 * `api`: requested from this service. `provider`: stored because the provider reported a refund that this database did
 * not have.
 */
export type RefundSource = (typeof REFUND_SOURCES)[number];

export interface Refund {
  readonly id: string;
  readonly version: number;
  readonly paymentId: string;
  readonly customerId: string;
  /** Minor units of the payment's currency, at least 1. */
  readonly amount: bigint;
  readonly currency: string;
  readonly status: RefundStatus;
  readonly reason: string | null;
  readonly source: RefundSource;
  /** Credit note that was issued together with the refund and that the refund pays out; null: none. */
  readonly creditNoteId: string | null;
  /** Caller that created the refund. */
  readonly actor: string;
  /**
   * Idempotency key that the client sent; null: none. Each actor can use it for one refund only, even after the stored
   * answer to the request has expired.
   */
  readonly idempotencyKey: string | null;
  readonly failureCode: string | null;
  /** The provider's id of the refund. */
  readonly providerReference: string | null;
  /**
   * Number of the request to the provider, from 1. The idempotency key that the provider gets contains this number.
   * Incremented after the provider has not listed the refund for an hour, so that the provider accepts a new request.
   */
  readonly providerAttempt: number;
  /**
   * Real time (not of a test clock) at which the request with the current `providerAttempt` was sent. If null, an
   * earlier version of the service stored the refund, and `createdAt` is used instead.
   */
  readonly sentAt: Date | null;
  /**
   * Time of the first poll since `sentAt` in which the provider did not list the refund. Null if there was no such
   * poll.
   */
  readonly absentSince: Date | null;
  readonly metadata: Metadata;
  /**
   * Time of the next poll of the provider. While a process polls: the time at which its lease ends. Null if the outcome
   * is final.
   */
  readonly dueAt: Date | null;
  /** Number of the process that is asking the provider; null: none. */
  readonly leasedBy: number | null;
  /** Number of calls to the provider without a final outcome. */
  readonly attempts: number;
  /** Number of `attempts` whose result was not stored because the database failed. */
  readonly interruptions: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Credit note to issue with a refund, on the invoice that the payment paid. */
export interface RefundNote {
  readonly lines: readonly { readonly lineId: string; readonly netMinor: bigint }[];
  readonly reason: string;
}

export interface RefundRequest {
  readonly paymentId: string;
  /**
   * Minor units. Null: all that can be refunded, or with a credit note, the part of the note that is to be refunded.
   */
  readonly amount: bigint | null;
  readonly creditNote: RefundNote | null;
  readonly reason: string | null;
  readonly idempotencyKey: string | null;
  readonly metadata: Metadata;
}

export type NewRefund = Pick<
  Refund,
  | 'id'
  | 'paymentId'
  | 'customerId'
  | 'amount'
  | 'currency'
  | 'reason'
  | 'source'
  | 'creditNoteId'
  | 'actor'
  | 'idempotencyKey'
  | 'providerReference'
  | 'metadata'
  | 'sentAt'
  | 'dueAt'
  | 'leasedBy'
>;

/** @param now time on the clock of the customer: its test clock, or else the real clock */
export function newRefund(refund: NewRefund, now: Date): Refund {
  return {
    ...refund,
    version: 1,
    status: 'pending',
    failureCode: null,
    providerAttempt: 1,
    absentSince: null,
    attempts: 0,
    interruptions: 0,
    createdAt: now,
    updatedAt: now,
  };
}

/** Filter of a list of refunds. A null field matches all refunds. */
export interface RefundFilter {
  readonly customerId: string | null;
  readonly paymentId: string | null;
  readonly statuses: readonly RefundStatus[] | null;
  readonly failureCode: string | null;
  readonly currency: string | null;
  readonly amount: AmountRange;
  readonly created: InstantRange;
}

export const REFUND_TRANSITIONS: Transitions<RefundStatus> = {
  pending: ['succeeded', 'failed', 'canceled'],
  // A bank may return a refund days after it succeeded.
  succeeded: ['failed'],
  failed: [],
  canceled: [],
};

export type RefundOutcome =
  | { readonly kind: 'succeeded' | 'canceled'; readonly reference?: string }
  | { readonly kind: 'failed'; readonly failureCode: string }
  /** The refund is not finished, or the provider did not answer. */
  | {
      readonly kind: 'open';
      readonly reference?: string;
      /**
       * Time of the next poll, with the lease and the number of attempts. Null if another process has taken over
       * polling.
       */
      readonly plan: Pick<Refund, 'dueAt' | 'leasedBy' | 'attempts'> | null;
    };

/** Returns the refund after an outcome, or the same refund if its status does not allow the outcome. */
export function withOutcome(refund: Refund, outcome: RefundOutcome, now: Date): Refund {
  const isAllowed =
    outcome.kind === 'open'
      ? refund.status === 'pending'
      : mayBecome(REFUND_TRANSITIONS, refund.status, outcome.kind);
  if (!isAllowed) return refund;
  switch (outcome.kind) {
    case 'succeeded':
    case 'canceled':
      return nextVersion(refund, now, {
        status: outcome.kind,
        providerReference: outcome.reference ?? refund.providerReference,
        dueAt: null,
        leasedBy: null,
      });
    case 'failed':
      return nextVersion(refund, now, {
        status: 'failed',
        failureCode: outcome.failureCode,
        dueAt: null,
        leasedBy: null,
      });
    case 'open':
      return withPlan(refund, outcome.plan, outcome.reference ?? refund.providerReference);
  }
}

function withPlan(
  refund: Refund,
  plan: Partial<Refund> | null,
  providerReference: string | null,
): Refund {
  const isSame = plan === null && providerReference === refund.providerReference;
  return isSame ? refund : { ...refund, ...plan, providerReference };
}

const HOUR_MS = 3_600_000;

/**
 * Returns the pending refund after a poll in which the provider did not list the refund. The first such poll sets
 * `absentSince`. An hour later, the last request counts as lost: `providerAttempt` is incremented, so that the refund
 * can be sent again.
 */
export function withAbsence(refund: Refund, now: Date): Refund {
  const { absentSince, providerAttempt } = refund;
  if (absentSince === null || isMisdated(absentSince, now)) return { ...refund, absentSince: now };
  if (now.getTime() - absentSince.getTime() < HOUR_MS) return refund;
  return { ...refund, providerAttempt: providerAttempt + 1, sentAt: now, absentSince: null };
}

/**
 * Changes a failed or canceled refund to `succeeded`, for a provider that reports the success late.
 * @param providerReference the provider's id of the refund that succeeded
 */
export function correctedToSucceeded(refund: Refund, providerReference: string, now: Date): Refund {
  invariant(
    refund.status === 'failed' || refund.status === 'canceled',
    `The refund ${refund.id} is ${refund.status}.`,
  );
  return nextVersion(refund, now, { status: 'succeeded', failureCode: null, providerReference });
}

/**
 * Returns true if a refund has the values of a request. A null amount in the request matches every amount. Compares
 * only whether there is a credit note, not its content.
 */
export function isSameRequest(refund: Refund, request: RefundRequest): boolean {
  return (
    refund.paymentId === request.paymentId &&
    (request.amount === null || request.amount === refund.amount) &&
    refund.reason === request.reason &&
    (refund.creditNoteId === null) === (request.creditNote === null) &&
    // The database does not keep the order of keys.
    canonicalJson(refund.metadata) === canonicalJson(request.metadata)
  );
}

/** Returns true if a credit note equals the requested one. The order of the lines does not matter. */
export function isSameNote({ reason, lines }: RefundNote, requested: RefundNote): boolean {
  const asked = new Map(requested.lines.map(({ lineId, netMinor }) => [lineId, netMinor]));
  return (
    reason === requested.reason &&
    lines.length === requested.lines.length &&
    lines.every(({ lineId, netMinor }) => asked.get(lineId) === netMinor)
  );
}

/** Maximum that a caller may refund of one payment in total, in minor units by currency. Null: no limit. */
export type RefundLimits = ReadonlyMap<string, bigint> | null;

/**
 * Returns the limit in minor units if the refunds of a payment exceed it, otherwise null. Adds up all succeeded and
 * pending refunds of the payment, so that several small refunds cannot exceed the limit. If `limits` has no entry for
 * the currency of the payment, the limit is 0.
 */
export function exceededLimit(
  limits: RefundLimits,
  payment: {
    readonly currency: string;
    readonly amountRefunded: bigint;
    readonly amountRefundPending: bigint;
  },
): bigint | null {
  if (limits === null) return null;
  const limit = limits.get(payment.currency) ?? 0n;
  return payment.amountRefunded + payment.amountRefundPending > limit ? limit : null;
}
