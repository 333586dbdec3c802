export const TEST_CLOCK_STATUSES = ['ready', 'advancing', 'failed'] as const;
export type TestClockStatus = (typeof TEST_CLOCK_STATUSES)[number];

/** A clock that moves by request, for the customers attached to it. */
export interface TestClock {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly instant: Date;
  readonly status: TestClockStatus;
  /** Target of an advance that is running, was interrupted or has failed; null when the clock is ready. */
  readonly targetAt: Date | null;
  /**
   * End of the lease of the process that advances or deletes the clock, in real time; null if there is no such process.
   * After a crash, another process can continue the work when the lease has ended.
   */
  readonly leaseEndsAt: Date | null;
  /**
   * Number of the process that has the lease; null if none has. If that process dies, another process ends the lease.
   */
  readonly leasedBy: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/**
 * Duration of a lease, in milliseconds. Each job of an advance, and each charge of an invoice, takes less time. The
 * advance renews its lease before each of them. A purge renews its lease with each group of customers. A group can take
 * longer than the lease, but the purge also locks the row of the clock.
 */
const LEASE_MS = 60_000;

export type TestClockLease = Pick<TestClock, 'leaseEndsAt' | 'leasedBy'>;

/** @param leasedBy number of the process that gets the lease */
export function newLease(now: Date, leasedBy: number): TestClockLease {
  return { leaseEndsAt: new Date(now.getTime() + LEASE_MS), leasedBy };
}

export type AdvanceRefusal = 'backwards' | 'too_far' | 'busy' | 'failed' | 'other_target';

/**
 * Returns true while a process is advancing the clock. Returns false if that process crashed and its lease has ended.
 */
export function isBeingMoved(
  { status, leaseEndsAt }: Pick<TestClock, 'status' | 'leaseEndsAt'>,
  realNow: Date,
): boolean {
  return status === 'advancing' && leaseEndsAt !== null && leaseEndsAt > realNow;
}

/** Limits the work of one call: in ten years, a daily subscription renews 3,650 times. */
const MAX_ADVANCE_YEARS = 10;
const LONGEST_YEAR_MS = 366 * 86_400_000;

/**
 * Returns why a clock cannot be advanced to an instant; null if it can. An interrupted advance can be continued when
 * its lease has ended, but only to the same target.
 * @param realNow real time, in which leases are measured
 */
export function advanceRefusal(clock: TestClock, to: Date, realNow: Date): AdvanceRefusal | null {
  switch (clock.status) {
    case 'failed':
      return 'failed';
    case 'advancing':
      if (isBeingMoved(clock, realNow)) return 'busy';
      return clock.targetAt?.getTime() === to.getTime() ? null : 'other_target';
    case 'ready':
      if (to < clock.instant) return 'backwards';
      return to.getTime() - clock.instant.getTime() > MAX_ADVANCE_YEARS * LONGEST_YEAR_MS
        ? 'too_far'
        : null;
  }
}
