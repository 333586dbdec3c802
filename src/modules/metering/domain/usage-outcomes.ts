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
  return starts.map((startAt, index) => {
    const changed = bills.filter((bill) => bill.countedFromAt <= startAt && startAt < bill.endAt);
    const billedUpTo = changed.reduce<bigint | null>(
      (least, { upToPosition }) => (least === null || upToPosition < least ? upToPosition : least),
      null,
    );
    const isUnbillable = unbillable.some((one) => one.startAt <= startAt && startAt < one.endAt);
    return {
      startAt,
      endAt: starts[index + 1] ?? period.endAt,
      billedUpTo,
      isUnbillable: billedUpTo === null && isUnbillable,
    };
  });
}
