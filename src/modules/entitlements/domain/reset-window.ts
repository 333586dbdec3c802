import { invariant } from '../../../core/invariant';
import { type BillingAnchor, contains, periodContaining, type Period } from '../../../core/time';
import { FOR_EVER } from '../../../core/usage';

export type Reset = 'period' | 'day' | 'week' | 'month' | 'year' | 'never';

/** Span of time in which usage counts against one allowance. */
export interface ResetWindow {
  readonly reset: Reset;
  readonly startAt: Date;
  /** Exclusive; null: the window does not end. */
  readonly endAt: Date | null;
}

/** Returns the start and end of a window. A window without an end gets {@link FOR_EVER}, as in metering. */
export function spanOf({ startAt, endAt }: Pick<ResetWindow, 'startAt' | 'endAt'>): Period {
  return { startAt, endAt: endAt ?? FOR_EVER };
}

/** Start and billing periods of a subscription, from which the windows of its entitlements are computed. */
export interface BillingSchedule {
  readonly startAt: Date;
  /**
   * Null if only former calendar windows are computed from the schedule, because they do not depend on billing periods.
   */
  readonly currentPeriod: Period | null;
  /** Anchor of the periods after the current one. */
  readonly anchor: BillingAnchor;
}

/** Rule for the usage windows of a subscribed entitlement: how often usage is reset, and the billing periods. */
export interface WindowRule {
  readonly reset: Reset;
  readonly billing: BillingSchedule;
}

/**
 * Maximum assumed difference between the clocks of two processes, in milliseconds. Each of the two clocks may differ
 * from the clock of the database by 5 s (decision 36).
 */
const MAX_APART_MS = 10_000;

/**
 * Returns the time at which a balance counts as read or changed. This is the latest of `now`, the start of its window,
 * and the start of the current billing period. A start is after `now` if a process whose clock is ahead has written it
 * (decision 165). A start more than {@link MAX_APART_MS} after `now` is ignored, so that a balance recovers from a
 * wrong clock.
 * @param now time of this process, or of the test clock of the customer; not before the last change of the balance
 */
export function balanceTime(
  now: Date,
  window: Pick<ResetWindow, 'startAt'> | null,
  rule: WindowRule | null = null,
): Date {
  const period = rule?.billing.currentPeriod ?? null;
  const begun = [window, period].flatMap((one) => (one === null ? [] : one.startAt.getTime()));
  const near = begun.filter((startMs) => startMs - now.getTime() <= MAX_APART_MS);
  return new Date(Math.max(now.getTime(), ...near));
}

/**
 * Returns the window that contains `at`. With the reset `period`, this is the billing period that contains `at`. If the
 * renewal is late, it is the period that the renewal will start. If `at` is before the current period, the window
 * reaches from `at` to the start of the current period.
 * @param at instant at or after the start of the subscription
 */
export function windowAt(reset: Reset, billing: BillingSchedule, at: Date): ResetWindow {
  switch (reset) {
    case 'never':
      return { reset, startAt: billing.startAt, endAt: null };
    case 'period':
      return { reset, ...billingPeriodAt(billing, at) };
    default:
      return { reset, ...calendarPeriodAt(reset, billing.anchor.timeZone, at) };
  }
}

function billingPeriodAt({ currentPeriod, anchor }: BillingSchedule, at: Date): Period {
  invariant(currentPeriod !== null, 'A subscription that grants access has a current period.');
  if (contains(currentPeriod, at)) return currentPeriod;
  if (at < currentPeriod.startAt) return { startAt: at, endAt: currentPeriod.startAt };
  const found = periodContaining(anchor, at);
  invariant(found !== undefined, 'A period follows the current one.');
  const { startAt, endAt } = found;
  // The first period of the anchor may be short, or the current period may have moved. In both cases the next period
  // starts when the current one ends.
  return { startAt: startAt < currentPeriod.endAt ? currentPeriod.endAt : startAt, endAt };
}

/** Returns the local day, ISO week, month or year that contains an instant. */
function calendarPeriodAt(
  interval: Exclude<Reset, 'period' | 'never'>,
  timeZone: string,
  at: Date,
): Period {
  const found = periodContaining(
    { mode: 'calendar', startAt: at, timeZone, interval, intervalCount: 1 },
    at,
  );
  invariant(found !== undefined, 'A period that starts at an instant contains it.');
  return found.fullPeriod;
}
