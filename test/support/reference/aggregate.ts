import {
  add,
  greaterOf,
  multiply,
  rational,
  type Rational,
  sum,
  ZERO,
} from '../../../src/core/decimal';
import { contains, type Period } from '../../../src/core/time';
import type { Aggregation } from '../../../src/core/usage';

/** Usage event as a meter reads it. */
export type MeteredEvent = {
  readonly occurredAt: Date;
  /** Exact number for `sum`, `max`, `latest` and `weighted_sum`; null if the event has none. */
  readonly value: Rational | null;
  /** Text whose different values `unique` counts; null if the event has none. */
  readonly key: string | null;
};

/**
 * Returns the exact value of a meter over a period, calculated independently of the SQL totals. `events` are in the
 * order in which they were accepted. Ignores events outside the period or without the value that the aggregation needs.
 *
 * - `count`: the number of events.
 * - `sum`: the sum of the values.
 * - `max`: the largest value, even if all values are negative.
 * - `unique`: the number of different keys.
 * - `latest`: the value of the last event. Of events at one instant, the one accepted last counts.
 * - `weighted_sum`: each value is a change that lasts from its event to the end of the period. The result is the sum of
 * value x duration, divided by the length of the period, plus `carriedOver`; 0 over a period without time.
 *
 * @param carriedOver value of a recurring meter at the start of the period, see {@link heldAtEnd}. Zero for a meter
 *   that starts at zero.
 */
export function aggregate(
  aggregation: Aggregation,
  events: readonly MeteredEvent[],
  period: Period,
  carriedOver: Rational = ZERO,
): Rational {
  const inPeriod = events.filter(({ occurredAt }) => contains(period, occurredAt));
  switch (aggregation) {
    case 'count':
      return rational(BigInt(inPeriod.length));
    case 'sum':
      return sum(valuesOf(inPeriod));
    case 'max':
      return greatest(valuesOf(inPeriod));
    case 'unique':
      return rational(countKeys(inPeriod));
    case 'latest':
      return latest(inPeriod);
    case 'weighted_sum':
      return weightedSum(inPeriod, period, carriedOver);
  }
}

/**
 * Returns the value of a recurring `weighted_sum` meter at the end of the period: the value at its start plus all
 * changes. The next period starts with this value.
 */
export function heldAtEnd(
  events: readonly MeteredEvent[],
  period: Period,
  carriedOver: Rational = ZERO,
): Rational {
  const inPeriod = events.filter(({ occurredAt }) => contains(period, occurredAt));
  return add(carriedOver, sum(valuesOf(inPeriod)));
}

function valuesOf(events: readonly MeteredEvent[]): Rational[] {
  return events.flatMap(({ value }) => (value === null ? [] : [value]));
}

function greatest(values: readonly Rational[]): Rational {
  const [first, ...rest] = values;
  return first === undefined ? ZERO : rest.reduce(greaterOf, first);
}

function countKeys(events: readonly MeteredEvent[]): bigint {
  const keys = new Set(events.flatMap(({ key }) => (key === null ? [] : [key])));
  return BigInt(keys.size);
}

function latest(events: readonly MeteredEvent[]): Rational {
  let last: { readonly occurredAt: Date; readonly value: Rational } | undefined;
  for (const { occurredAt, value } of events) {
    if (value !== null && (last === undefined || occurredAt >= last.occurredAt)) {
      last = { occurredAt, value };
    }
  }
  return last?.value ?? ZERO;
}

function weightedSum(
  events: readonly MeteredEvent[],
  period: Period,
  carriedOver: Rational,
): Rational {
  const heldMs = events.flatMap(({ occurredAt, value }) =>
    value === null ? [] : [multiply(value, rational(elapsedMs(occurredAt, period.endAt)))],
  );
  const periodMs = elapsedMs(period.startAt, period.endAt);
  if (periodMs === 0n) return ZERO;
  return add(carriedOver, multiply(sum(heldMs), rational(1n, periodMs)));
}

function elapsedMs(startAt: Date, endAt: Date): bigint {
  return BigInt(endAt.getTime() - startAt.getTime());
}
