import type { Period } from '../../../core/time';

/** A billed period of a subscription item, with the events that its bills have counted. */
export interface CountedBill {
  /** Earliest instant from which a bill of the period counted events. */
  readonly countedFromAt: Date;
  readonly endAt: Date;
  /** Last stream position up to which the bills of the period counted events. */
  readonly upToPosition: bigint;
}

/** Part of a period in which all events belong to the same billed periods, or to none. */
export interface OutcomeSpan extends Period {
  /**
   * Events up to this position are in the bills of all billed periods of the span. Events at later positions are still
   * to be billed.
   * Null if the span is in no billed period.
   */
  readonly billedUpTo: bigint | null;
  /** True if no bill will count the events. */
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
