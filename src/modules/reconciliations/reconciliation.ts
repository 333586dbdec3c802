import { nextVersion } from '../../core/next-version';
import { BEGINNING } from '../../core/time';
import type { ListingProvider } from '../payments';

const DAY_MS = 86_400_000;
/** Default length of the compared period. Long enough for failed debits and returned refunds to become known. */
const COMPARED_MS = 7 * DAY_MS;

export const RECONCILIATION_STATUSES = ['running', 'completed', 'failed'] as const;
export type ReconciliationStatus = (typeof RECONCILIATION_STATUSES)[number];

export const RECONCILIATION_FAILURES = ['provider_unavailable', 'internal_error'] as const;
export type ReconciliationFailure = (typeof RECONCILIATION_FAILURES)[number];

/**
 * Phases of a run, in order:
 * - `list`: stores the provider's list.
 * - `compare`: compares each listed object with the books.
 * - `find`: looks up booked objects that the provider did not list.
 * - `clean`: deletes the stored list.
 */
export const PHASES = [
  'list_charges',
  'list_refunds',
  'compare_charges',
  'compare_refunds',
  'find_charges',
  'find_refunds',
  'clean',
] as const;
export type Phase = (typeof PHASES)[number];

/** Number of differences at which a run ends early. */
export const MAX_DIFFERENCES = 1_000;

/** Comparison of the books with the charges and refunds that a provider lists for a period. Runs in the background. */
export interface Reconciliation {
  readonly id: string;
  readonly version: number;
  readonly provider: ListingProvider;
  readonly status: ReconciliationStatus;
  /** Reason of the first failure; null: no failure. `status` becomes `failed` only after the phase `clean`. */
  readonly failureCode: ReconciliationFailure | null;
  /** Start of the compared period, which is `[fromAt, toAt)`. */
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly phase: Phase;
  /** Position within the phase; null: at the start of the phase. */
  readonly position: string | null;
  readonly chargesListed: number;
  readonly refundsListed: number;
  readonly differencesFound: number;
  /** True if the run ended early, at {@link MAX_DIFFERENCES}. */
  readonly isTruncated: boolean;
  readonly actor: string;
  /** Due time of the next step; during a step, the end of its lease. Null: the run has ended. */
  readonly dueAt: Date | null;
  readonly leasedBy: number | null;
  /** Number of consecutive steps without a result. */
  readonly attempts: number;
  /** Number of `attempts` with a result that could not be stored, because the database failed. */
  readonly interruptions: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly endedAt: Date | null;
}

export interface ReconciliationRequest {
  readonly provider: ListingProvider;
  /** Start of the period. Null: 7 days before `to`, but not before the year 1. */
  readonly from: Date | null;
  /** End of the period. Null: now. */
  readonly to: Date | null;
}

export function newReconciliation(
  id: string,
  { provider, from, to }: ReconciliationRequest,
  actor: string,
  now: Date,
): Reconciliation {
  const toAt = to ?? now;
  const daysBefore = new Date(toAt.getTime() - COMPARED_MS);
  return {
    id,
    version: 1,
    provider,
    status: 'running',
    failureCode: null,
    fromAt: from ?? (daysBefore > BEGINNING ? daysBefore : BEGINNING),
    toAt,
    phase: 'list_charges',
    position: null,
    chargesListed: 0,
    refundsListed: 0,
    differencesFound: 0,
    isTruncated: false,
    actor,
    dueAt: now,
    leasedBy: null,
    attempts: 0,
    interruptions: 0,
    createdAt: now,
    updatedAt: now,
    endedAt: null,
  };
}

export interface StepProgress {
  /** Position in the phase at which the next step continues; null: the phase is done. */
  readonly next: string | null;
  readonly charges: number;
  readonly refunds: number;
  readonly differences: number;
  /** Reason why the step passed over an object that cannot be read; null: it passed over no object. */
  readonly failureCode: ReconciliationFailure | null;
}

/**
 * Number of consecutive steps without a result after which a run fails. The pauses between these steps add up to about
 * 2.4 hours.
 */
const MAX_ATTEMPTS = 12;

/** Returns the run after a step: at the next position, in the next phase, or ended. */
export function afterStep(before: Reconciliation, result: StepProgress, now: Date): Reconciliation {
  const differencesFound = before.differencesFound + result.differences;
  const isTruncated = differencesFound >= MAX_DIFFERENCES;
  const counted = nextVersion(before, now, {
    chargesListed: before.chargesListed + result.charges,
    refundsListed: before.refundsListed + result.refunds,
    differencesFound,
    isTruncated,
    failureCode: before.failureCode ?? result.failureCode,
    attempts: 0,
    interruptions: 0,
    dueAt: now,
    leasedBy: null,
  });
  if (isTruncated && before.phase !== 'clean')
    return { ...counted, phase: 'clean', position: null };
  if (result.next !== null) return { ...counted, position: result.next };
  const phase = PHASES[PHASES.indexOf(before.phase) + 1];
  if (phase !== undefined) return { ...counted, phase, position: null };
  const status = counted.failureCode === null ? 'completed' : 'failed';
  return { ...counted, status, position: null, dueAt: null, endedAt: now };
}

/**
 * Number of attempts to read an object, if the run has already passed over an object. Their pauses add up to 15
 * seconds.
 */
const MAX_ATTEMPTS_AFTER_FAILURE = 3;

/**
 * Returns true in the last attempt to read the first object of a step. If this attempt fails, the run passes over the
 * object.
 */
export function passesOverUnreadable(run: Reconciliation): boolean {
  const limit = run.failureCode === null ? MAX_ATTEMPTS : MAX_ATTEMPTS_AFTER_FAILURE;
  return run.attempts + 1 - run.interruptions >= limit;
}

/**
 * Returns the run after a step without a result, with another attempt planned. After {@link MAX_ATTEMPTS} such steps in
 * a row, the run gets the failure code and continues with the phase `clean`. Attempts that the database interrupted do
 * not count.
 * @param retry plan of the next attempt
 */
export function afterNoResult(
  before: Reconciliation,
  retry: Pick<Reconciliation, 'dueAt' | 'leasedBy' | 'attempts'>,
  failureCode: ReconciliationFailure,
  now: Date,
): Reconciliation {
  const next = nextVersion(before, now, retry);
  if (retry.attempts - before.interruptions < MAX_ATTEMPTS || before.phase === 'clean') return next;
  return {
    ...next,
    failureCode: before.failureCode ?? failureCode,
    phase: 'clean',
    position: null,
    dueAt: now,
  };
}
