import type { Period } from '../../../core/time';

/**
 * Events that the bills of one period of a subscription item counted. A stream position is the number of an event, in
 * commit order, among those of one customer and event name.
 */
export interface CountedBill {
  /** Earliest instant from which a bill of the period counted events. */
  readonly countedFromAt: Date;
  readonly endAt: Date;
  /** Highest stream position up to which a bill of the period counted events. */
  readonly upToPosition: bigint;
}

/** Time span whose events all belong to the same billed periods. The span may also belong to no billed period. */
export interface OutcomeSpan extends Period {
  /**
   * Events up to this stream position (a number in commit order) are on a bill of every billed period that contains the
   * span. Later events are missing on the bills of at least one of these periods. Null: no billed period contains the
   * span.
   */
  readonly billedUpTo: bigint | null;
  /** True if no bill counts the events of the span, now or later. */
  readonly isUnbillable: boolean;
}

/** Splits a period at the bounds of each bill (`countedFromAt`, `endAt`) and of each unbillable period. */
export function outcomeSpans(
  period: Period,
  bills: readonly CountedBill[],
  unbillable: readonly Period[],
): readonly OutcomeSpan[] {
  const boundaries = [
    ...bills.flatMap(({ countedFromAt, endAt }) => [countedFromAt, endAt]),
    ...unbillable.flatMap(({ startAt, endAt }) => [startAt, endAt]),
  ].filter((boundary) => boundary > period.startAt && boundary < period.endAt);
  const starts = [period.startAt, ...boundaries]
    .sort((one, other) => one.getTime() - other.getTime())
    .filter((start, index, all) => start.getTime() !== all[index - 1]?.getTime());
  const leastFirst = bills
    .map(({ countedFromAt, endAt, upToPosition }) => ({
      startAt: countedFromAt,
      endAt,
      upToPosition,
    }))
    .sort((one, other) => Number(one.upToPosition - other.upToPosition));
  const billed = firstContaining(starts, leastFirst);
  const neverBilled = firstContaining(starts, unbillable);
  return starts.map((startAt, index) => {
    const bill = billed[index] ?? null;
    return {
      startAt,
      endAt: starts[index + 1] ?? period.endAt,
      billedUpTo: bill?.upToPosition ?? null,
      isUnbillable: bill === null && neverBilled[index] !== undefined,
    };
  });
}

/**
 * Returns for the start of each span the first of `periods` that contains the span; undefined if none does. Visits a
 * span only until its period is found, so that the time does not grow with spans x periods.
 * @param starts starts of adjoining spans, sorted. A period may begin and end outside of all spans, but not within one
 */
function firstContaining<One extends Period>(
  starts: readonly Date[],
  periods: readonly One[],
): readonly (One | undefined)[] {
  const indexes = new Map(starts.map((start, index) => [start.getTime(), index]));
  const [first] = starts;
  const found = starts.map((): One | undefined => undefined);
  /** For a span whose period is found, a later one: by these steps the next span without a period is reached. */
  const next = [...starts.keys(), starts.length];
  const openFrom = (from: number): number => {
    let index = from;
    for (let later = next[index]; later !== undefined && later !== index; later = next[index]) {
      next[index] = next[later] ?? later;
      index = later;
    }
    return index;
  };
  for (const one of periods) {
    const isBefore = first !== undefined && one.startAt < first;
    const from = isBefore ? 0 : (indexes.get(one.startAt.getTime()) ?? starts.length);
    for (let index = openFrom(from); ; index = openFrom(index)) {
      const start = starts[index];
      if (start === undefined || start >= one.endAt) break;
      found[index] = one;
      next[index] = index + 1;
    }
  }
  return found;
}
