import { LONGEST_PAUSE_MS } from '../../../core/longest-pause';

/**
 * Duration of a lease in milliseconds. When a lease ends, another process may ask the provider. The duration suffices
 * for two calls (a query and a charge, each with a time limit of 30 s) and for storing the result.
 */
const POLL_LEASE_MS = 150_000;

/**
 * Exclusive right of a process to poll a payment, refund or similar object at its provider until `endsAt`. Ends early
 * if the process dies.
 */
export interface Lease {
  readonly endsAt: Date;
  readonly owner: number;
}

/** @param realNow time of the machine, because providers do not know test clocks */
export function pollLease(realNow: Date, owner: number): Lease {
  return { endsAt: new Date(realNow.getTime() + POLL_LEASE_MS), owner };
}

/**
 * Lease with which new payments are stored, so that no other process polls them during their first call to the
 * provider.
 */
export interface StartedLease {
  readonly lease: Lease;
  readonly startedAt: Date;
}

/** Lease of a payment, refund or similar object at the time at which the provider was called about the object. */
export interface PolledLease {
  readonly leasedBy: number | null;
  readonly dueAt: Date | null;
}

/**
 * Returns true if two leases have the same owner and the same end. Comparing the owners is not enough, because the same
 * process may have a later lease of the object.
 */
export function isSameLease(one: PolledLease, other: PolledLease): boolean {
  return one.leasedBy === other.leasedBy && one.dueAt?.getTime() === other.dueAt?.getTime();
}

const SECOND_MS = 1_000;
const FIRST_CHECK_MS = 5 * SECOND_MS;

/** Returns the time of the next poll. The first pause is 5 s. Each further pause is twice as long, up to an hour. */
function nextCheckAt(attempts: number, now: Date): Date {
  return new Date(now.getTime() + Math.min(FIRST_CHECK_MS * 2 ** attempts, LONGEST_PAUSE_MS));
}

/**
 * Returns the column values that end the lease of an object, count the attempt, and plan the next poll by any process.
 */
export function pollAgainLater(
  { attempts }: { readonly attempts: number },
  askedAt: Date,
): { readonly dueAt: Date; readonly leasedBy: null; readonly attempts: number } {
  return { dueAt: nextCheckAt(attempts, askedAt), leasedBy: null, attempts: attempts + 1 };
}
