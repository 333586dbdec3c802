import {
  add,
  greaterOf,
  multiply,
  rational,
  type Rational,
  sum,
  ZERO,
} from '../../../src/core/decimal';
import { invariant } from '../../../src/core/invariant';
import { contains, type Period } from '../../../src/core/time';
import type { Aggregation } from '../../../src/core/usage';

/** Usage event as a meter reads it. */
export type MeteredEvent = {
  readonly occurredAt: Date;
  /** The exact number of `sum`, `max`, `latest` and `weighted_sum`; null where there is none. */
  readonly value: Rational | null;
  /** Value that `unique` counts once, by its exact text; null where there is none. */
  readonly key: string | null;
};

/**
 * Returns the exact value of a meter over a period, from the events in the order they were accepted: an implementation
 * independent of the SQL totals. Ignores events outside the period and those without the value that the aggregation reads.
 *
 * - `count`: the events.
 * - `sum`: the sum of their values.
 * - `max`: the greatest value, also when all are below zero.
 * - `unique`: how many different keys.
 * - `latest`: the value that happened last; of two at one instant, the one accepted last.
 * - `weighted_sum`: each value is a change that is held from its event to the end of the period:
 *   the sum of value x seconds held / seconds of the period, to the millisecond, on top of
 *   `carriedOver`.
 *
 * @param carriedOver what a recurring meter held when the period began, see {@link heldAtEnd};
 * weighs for the whole period. Zero for a meter that starts at zero.
 * @throws InvariantError when `weighted_sum` has no time to weigh over.
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
 * Returns the value of a recurring `weighted_sum` meter at the end of the period, which the next one
 * starts with: the value at its start plus every change in it.
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
  invariant(periodMs > 0n, 'a weighted sum has time to weigh over');
  return add(carriedOver, multiply(sum(heldMs), rational(1n, periodMs)));
}

function elapsedMs(startAt: Date, endAt: Date): bigint {
  return BigInt(endAt.getTime() - startAt.getTime());
}
