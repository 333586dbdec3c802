import { add, multiply, rational, type Rational, ZERO } from '../../../core/decimal';
import { invariant } from '../../../core/invariant';
import type { Period } from '../../../core/time';
import type { Group, GroupUsage } from './group-usage';
import type { Meter } from './meter';

/** What is kept of the events of a period, enough for any aggregation; what a meter's does not read is 0 or null. */
export interface UsageTotals {
  readonly events: bigint;
  readonly total: Rational;
  readonly greatest: Rational | null;
  readonly latest: Rational | null;
  /** Each value times the milliseconds from its event to the end of the period. */
  readonly heldMs: Rational;
  readonly distinctValues: bigint;
}

/** By the key of the group, a JSON array of texts. */
export type TotalsByGroup = ReadonlyMap<string, UsageTotals>;

const NOTHING: UsageTotals = {
  events: 0n,
  total: ZERO,
  greatest: null,
  latest: null,
  heldMs: ZERO,
  distinctValues: 0n,
};

type Rule = Pick<Meter, 'aggregation' | 'groupBy'>;

const NO_GROUP = '[]';

/** No instant on the wire lies before it. */
const BEGINNING = new Date('0001-01-01T00:00:00.000Z');

/**
 * From when on what happened before a period is held on into it: a recurring meter holds all of it, any other weighted sum
 * what it is told. Null: nothing is.
 */
export function heldFrom(
  { aggregation, isRecurring }: Pick<Meter, 'aggregation' | 'isRecurring'>,
  heldSince: Date | undefined,
): Date | null {
  if (aggregation !== 'weighted_sum') return null;
  return isRecurring ? BEGINNING : (heldSince ?? null);
}

/**
 * What the meter says of a period with these totals: the same as `aggregate` of core/usage says of its events.
 * @param carriedOver what was held when the period began
 * @throws {InvariantError} when a weighted sum has no time to weigh over
 */
export function valueOf(
  { aggregation }: Pick<Rule, 'aggregation'>,
  totals: UsageTotals,
  period: Period,
  carriedOver: Rational,
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
      invariant(periodMs > 0n, 'A weighted sum has time to weigh over.');
      return add(carriedOver, multiply(totals.heldMs, rational(1n, periodMs)));
    }
  }
}

/**
 * The usage of adjoining windows, by group in the order of their keys. A group is there if it has events, or if
 * something of it is held; without groups there is always one.
 * @param before the totals of what is held when the first window begins, and on into the later ones; null: each window
 *   begins with nothing
 */
export function readingsOf(
  rule: Rule,
  windows: readonly Period[],
  totals: readonly TotalsByGroup[],
  before: TotalsByGroup | null,
): readonly (readonly GroupUsage[])[] {
  const held = new Map([...(before ?? [])].map(([group, { total }]) => [group, total]));
  return windows.map((window, place) => {
    const ofWindow = totals[place] ?? new Map<string, UsageTotals>();
    const carried = [...held].flatMap(([group, value]) => (value.numerator === 0n ? [] : [group]));
    const always = rule.groupBy.length === 0 ? [NO_GROUP] : [];
    const groups = [...new Set([...always, ...ofWindow.keys(), ...carried])].sort();
    return groups.map((group) => {
      const ofGroup = ofWindow.get(group) ?? NOTHING;
      const carriedOver = held.get(group) ?? ZERO;
      if (before !== null) held.set(group, add(carriedOver, ofGroup.total));
      return {
        group: JSON.parse(group) as Group,
        value: valueOf(rule, ofGroup, window, carriedOver),
        events: ofGroup.events,
      };
    });
  });
}
