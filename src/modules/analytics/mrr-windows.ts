import type { Period } from '../../core/time';
import { groupBy } from '../../core/grouping';
import type { MrrChangeKind, MrrSum } from '../recurring-revenue';

/**
 * Monthly recurring revenue (MRR) in one currency at the start and at the end of a window, such as a month. Also has
 * the changes within the window.
 */
export interface MrrWindow {
  readonly currency: string;
  readonly period: Period;
  readonly openingMinor: bigint;
  /** MRR at the end of the window, in minor units: `openingMinor` plus all changes. */
  readonly closingMinor: bigint;
  /** Number of subscriptions with recurring revenue at the end of the window. */
  readonly subscriptions: number;
  readonly amounts: Readonly<Record<MrrChangeKind, bigint>>;
  readonly counts: Readonly<Record<MrrChangeKind, number>>;
}

/** By how much one change of each kind changes the number of subscriptions with recurring revenue. */
const SUBSCRIPTIONS: Readonly<Record<MrrChangeKind, -1 | 0 | 1>> = {
  new: 1,
  reactivation: 1,
  expansion: 0,
  contraction: 0,
  churn: -1,
};

/**
 * Returns all windows of each currency in `sums`, ordered by currency and time. In `sums`, window 0 must contain the
 * changes before the first window.
 */
export function mrrWindows(
  windows: readonly Period[],
  sums: readonly MrrSum[],
): readonly MrrWindow[] {
  const currencies = [...new Set(sums.map(({ currency }) => currency))].sort();
  return currencies.flatMap((currency) => {
    const own = sums.filter((sum) => sum.currency === currency);
    const before = own.filter(({ window }) => window === 0);
    let closingMinor = before.reduce((total, { amountMinor }) => total + amountMinor, 0n);
    let subscriptions = subscriptionsOf(before);
    const byWindow = groupBy(own, ({ window }) => window);
    return windows.map((period, index) => {
      const within = byWindow.get(index + 1) ?? [];
      const openingMinor = closingMinor;
      const amounts = { new: 0n, expansion: 0n, contraction: 0n, churn: 0n, reactivation: 0n };
      const counts = { new: 0, expansion: 0, contraction: 0, churn: 0, reactivation: 0 };
      for (const { kind, amountMinor, changes } of within) {
        amounts[kind] += amountMinor;
        counts[kind] += changes;
        closingMinor += amountMinor;
      }
      subscriptions += subscriptionsOf(within);
      return { currency, period, openingMinor, closingMinor, subscriptions, amounts, counts };
    });
  });
}

function subscriptionsOf(sums: readonly MrrSum[]): number {
  return sums.reduce((total, { kind, changes }) => total + SUBSCRIPTIONS[kind] * changes, 0);
}
