import { invariant } from '../../../core/invariant';
import { type BillingAnchor, contains, periodContaining, type Period } from '../../../core/time';

export type Reset = 'period' | 'day' | 'week' | 'month' | 'year' | 'never';

/** The span in which usage is counted against one allowance. */
export interface ResetWindow {
  readonly reset: Reset;
  readonly startAt: Date;
  /** Exclusive; null: it never ends. */
  readonly endAt: Date | null;
}

/** Where a window that never ends is cut off for those that need an end: no event can lie beyond it. */
const FOR_EVER = new Date('9999-12-31T00:00:00.000Z');

export function spanOf({ startAt, endAt }: Pick<ResetWindow, 'startAt' | 'endAt'>): Period {
  return { startAt, endAt: endAt ?? FOR_EVER };
}

/** When a subscription is billed. */
export interface Billing {
  readonly startAt: Date;
  /** Null before it began. */
  readonly currentPeriod: Period | null;
  /** From what its periods follow once the current one has ended. */
  readonly anchor: BillingAnchor;
}

/**
 * The window that holds an instant. Where the renewal of a subscription is late, the period that it will begin.
 * @param at not before the subscription started
 */
export function windowAt(reset: Reset, billing: Billing, at: Date): ResetWindow {
  switch (reset) {
    case 'never':
      return { reset, startAt: billing.startAt, endAt: null };
    case 'period':
      return { reset, ...billingPeriodAt(billing, at) };
    default:
      return { reset, ...calendarPeriodAt(reset, billing.anchor.timeZone, at) };
  }
}

function billingPeriodAt({ currentPeriod, anchor }: Billing, at: Date): Period {
  invariant(currentPeriod !== null, 'what gives access has a period');
  if (contains(currentPeriod, at)) return currentPeriod;
  if (at < currentPeriod.startAt) return { startAt: at, endAt: currentPeriod.startAt };
  const found = periodContaining(anchor, at);
  invariant(found !== undefined, 'a period follows the current one');
  const { startAt, endAt } = found;
  // A short first period of the anchor, or one that was moved: none begins before the current one has ended.
  return { startAt: startAt < currentPeriod.endAt ? currentPeriod.endAt : startAt, endAt };
}

/** The local day, ISO week, month or year that holds an instant. */
function calendarPeriodAt(
  interval: Exclude<Reset, 'period' | 'never'>,
  timeZone: string,
  at: Date,
): Period {
  const found = periodContaining(
    { mode: 'calendar', startAt: at, timeZone, interval, intervalCount: 1 },
    at,
  );
  invariant(found !== undefined, 'an instant lies in a period that starts with it');
  return found.fullPeriod;
}
