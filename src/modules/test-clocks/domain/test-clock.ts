import type { Transitions } from '../../../core/states';

export const TEST_CLOCK_STATUSES = ['ready', 'advancing', 'failed'] as const;
export type TestClockStatus = (typeof TEST_CLOCK_STATUSES)[number];

/** A time of its own, for the customers that are attached to it. */
export interface TestClock {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  /** What time it is for everything that lives on the clock. */
  readonly instant: Date;
  readonly status: TestClockStatus;
  /** Where it is being moved to; null unless it is advancing or failed on the way. */
  readonly targetAt: Date | null;
  /** Until when whoever moves it is left alone; after a crash, the next call takes over. */
  readonly leaseEndsAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const TEST_CLOCK_TRANSITIONS: Transitions<TestClockStatus> = {
  ready: ['advancing'],
  advancing: ['ready', 'failed'],
  failed: [],
};

/** Longer than any single piece of due work takes; each piece renews it. */
export const ADVANCING_LEASE_MS = 60_000;

export type AdvanceRefusal = 'backwards' | 'too_far' | 'busy' | 'failed' | 'other_target';

/** Whether somebody moves the clock right now: one that a crash left half way is not. */
export function isBeingMoved(
  { status, leaseEndsAt }: Pick<TestClock, 'status' | 'leaseEndsAt'>,
  realNow: Date,
): boolean {
  return status === 'advancing' && leaseEndsAt !== null && leaseEndsAt > realNow;
}

/** Nobody tests billing further ahead in one call, and a daily subscription would renew 36,500 times on the way. */
const FURTHEST_YEARS = 10;
const LONGEST_YEAR_MS = 366 * 86_400_000;

/**
 * Why a clock may not be moved to an instant, or null where it may. A clock that was left half way by a crash goes on to
 * where it was going, once its lease has ended.
 * @param realNow what time it really is, for the lease
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
      return to.getTime() - clock.instant.getTime() > FURTHEST_YEARS * LONGEST_YEAR_MS
        ? 'too_far'
        : null;
  }
}
