import { multiply, rational, sum, ZERO } from '../../src/core/decimal';
import { contains, type Period } from '../../src/core/time';
import type { UsageTotals } from '../../src/core/usage';
import { aggregate, type MeteredEvent } from './reference/aggregate';

/** Totals of the events of a period, as the database keeps them. */
export function totalsOf(events: readonly MeteredEvent[], period: Period): UsageTotals {
  const inPeriod = events.filter(({ occurredAt }) => contains(period, occurredAt));
  const valued = inPeriod.flatMap(({ occurredAt, value }) =>
    value === null ? [] : [{ occurredAt, value }],
  );
  const heldMs = valued.map(({ occurredAt, value }) =>
    multiply(value, rational(BigInt(period.endAt.getTime() - occurredAt.getTime()))),
  );
  const isEmpty = valued.length === 0;
  return {
    events: BigInt(inPeriod.length),
    total: sum(valued.map(({ value }) => value)),
    greatest: isEmpty ? null : aggregate('max', inPeriod, period),
    latest: isEmpty ? null : aggregate('latest', inPeriod, period),
    heldMs: isEmpty ? ZERO : sum(heldMs),
    distinctValues: aggregate('unique', inPeriod, period).numerator,
  };
}
