import { add, multiply, rational, type Rational, ZERO } from '../decimal';
import { BEGINNING, type Period } from '../time';
import type { Aggregation } from './aggregation';

/** Values, as text, of the event properties that a meter groups by; null for a missing property. `[]`: no groups. */
export type Group = readonly (string | null)[];

export interface GroupUsage {
  readonly group: Group;
  readonly value: Rational;
  readonly events: bigint;
}

/** Totals of the events of a period, for all aggregations. Fields that an aggregation does not read are 0 or null. */
export interface UsageTotals {
  readonly events: bigint;
  readonly total: Rational;
  readonly greatest: Rational | null;
  /** Value of the latest event. Of two events at one instant, the one accepted last counts as later. */
  readonly latest: Rational | null;
  /** Sum, over all events, of the value x the milliseconds from the event to the end of the period. */
  readonly heldMs: Rational;
  readonly distinctValues: bigint;
}

/** Totals by group key. A group key is the {@link Group} as JSON. */
export type TotalsByGroup = ReadonlyMap<string, UsageTotals>;

/** Fields of a meter on which the quantity depends. */
interface MeterRule {
  readonly aggregation: Aggregation;
  readonly groupBy: readonly string[];
}

const NO_USAGE: UsageTotals = {
  events: 0n,
  total: ZERO,
  greatest: null,
  latest: null,
  heldMs: ZERO,
  distinctValues: 0n,
};

const NO_GROUP = '[]';

/** End of a registered window (a period with running totals) that never ends. No event is later. */
export const FOR_EVER = new Date('9999-12-31T00:00:00.000Z');

/**
 * Returns the time since which values carry over into later periods; null if no values do. Only values of a
 * `weighted_sum` carry over:
 * - recurring meter: all values
 * - other meter: values since `heldSince`, and no values if `heldSince` is undefined
 */
export function carryOverStart(
  {
    aggregation,
    isRecurring,
  }: { readonly aggregation: Aggregation; readonly isRecurring: boolean },
  heldSince: Date | undefined,
): Date | null {
  if (aggregation !== 'weighted_sum') return null;
  return isRecurring ? BEGINNING : (heldSince ?? null);
}

/**
 * Returns the exact quantity of a period with these totals. Without events, the quantity of a `weighted_sum` is
 * `carriedOver`, and all other quantities are 0. The `weighted_sum` of an empty period is 0.
 * @param carriedOver value of a `weighted_sum` at the start of the period, which counts for the whole period
 */
export function valueOf(
  aggregation: Aggregation,
  totals: UsageTotals,
  period: Period,
  carriedOver: Rational = ZERO,
): Rational {
  switch (aggregation) {
    case 'count':
      return rational(totals.events);
    case 'sum':
      return totals.total;
    case 'max':
      return totals.greatest ?? ZERO;
    case 'latest':
      return totals.latest ?? ZERO;
    case 'unique':
      return rational(totals.distinctValues);
    case 'weighted_sum': {
      const periodMs = BigInt(period.endAt.getTime() - period.startAt.getTime());
      if (periodMs === 0n) return ZERO;
      return add(carriedOver, multiply(totals.heldMs, rational(1n, periodMs)));
    }
  }
}

/** A registered window (a period with running totals), or its first part up to `endAt`. */
interface WindowPart extends Period {
  /** End of the whole window; default: `endAt`. The values of a `weighted_sum` count up to this end. */
  readonly heldUntil?: Date | undefined;
}

/**
 * Returns the exact usage of a registered window by the events before `endAt`. A `weighted_sum` counts each value until
 * `heldUntil`, and divides by the length of the whole window. In a window that never ends ({@link FOR_EVER}), a
 * `weighted_sum` is the plain sum of the values.
 * @param totals totals of the period from `startAt` to `endAt`
 * @param carriedOver value of a `weighted_sum` at the start of the window
 */
export function usageOfWindow(
  aggregation: Aggregation,
  totals: UsageTotals,
  { startAt, endAt, heldUntil = endAt }: WindowPart,
  carriedOver: Rational = ZERO,
): Rational {
  const isHeldForEver = heldUntil.getTime() === FOR_EVER.getTime();
  if (aggregation === 'weighted_sum' && isHeldForEver) return add(carriedOver, totals.total);
  const restMs = rational(BigInt(heldUntil.getTime() - endAt.getTime()));
  const heldMs = add(totals.heldMs, multiply(totals.total, restMs));
  return valueOf(aggregation, { ...totals, heldMs }, { startAt, endAt: heldUntil }, carriedOver);
}

/**
 * Yields the usage of each of several adjoining windows, as a list of groups sorted by group key. A group is listed if
 * it has events in the window, or a carried-over value other than zero. A meter without groups always has one entry.
 * @param totals totals of each window, in the order of the windows
 * @param before totals before the first window. They carry over into all windows, and the totals of each window into
 *   all later windows. Null: nothing carries over, and each window starts at zero.
 */
export function* readingsOf(
  rule: MeterRule,
  windows: readonly Period[],
  totals: readonly TotalsByGroup[],
  before: TotalsByGroup | null,
): Generator<readonly GroupUsage[], void, undefined> {
  const held = new Map<string, Rational>();
  for (const [group, { total }] of before ?? []) if (total.numerator !== 0n) held.set(group, total);
  for (const [index, window] of windows.entries()) {
    const ofWindow = totals[index] ?? new Map<string, UsageTotals>();
    const always = rule.groupBy.length === 0 ? [NO_GROUP] : [];
    const groups = [...new Set([...always, ...ofWindow.keys(), ...held.keys()])].sort();
    yield groups.map((group) => {
      const ofGroup = ofWindow.get(group) ?? NO_USAGE;
      const carriedOver = held.get(group) ?? ZERO;
      if (before !== null) {
        const carries = add(carriedOver, ofGroup.total);
        if (carries.numerator === 0n) held.delete(group);
        else held.set(group, carries);
      }
      return {
        group: JSON.parse(group) as Group,
        value: valueOf(rule.aggregation, ofGroup, window, carriedOver),
        events: ofGroup.events,
      };
    });
  }
}
