import type { Period } from '../../../core/time';

/** A period of an item as it was billed last. */
export interface CountedBill {
  /** The first instant whose events move it. */
  readonly countedFromAt: Date;
  readonly endAt: Date;
  /** The place in the stream up to which it counted. */
  readonly upToPosition: bigint;
}

/** A time whose events became of the same. */
export interface OutcomeSpan extends Period {
  /** Up to this place they are in every bill that they move; what came later waits. Null: they move no bill. */
  readonly billedUpTo: bigint | null;
  /** Whether none is to come. */
  readonly isUnbillable: boolean;
}

/** Cuts a period wherever something else becomes of its events. */
export function outcomeSpans(
  period: Period,
  bills: readonly CountedBill[],
  unbillable: readonly Period[],
): readonly OutcomeSpan[] {
  const borders = [
    ...bills.flatMap(({ countedFromAt, endAt }) => [countedFromAt, endAt]),
    ...unbillable.flatMap(({ startAt, endAt }) => [startAt, endAt]),
  ].filter((border) => border > period.startAt && border < period.endAt);
  const starts = [period.startAt, ...borders]
    .sort((one, other) => one.getTime() - other.getTime())
    .filter((start, place, all) => start.getTime() !== all[place - 1]?.getTime());
  return starts.map((startAt, place) => {
    const moved = bills.filter((bill) => bill.countedFromAt <= startAt && startAt < bill.endAt);
    const billedUpTo = moved.reduce<bigint | null>(
      (least, { upToPosition }) => (least === null || upToPosition < least ? upToPosition : least),
      null,
    );
    const isLeftOut = unbillable.some((one) => one.startAt <= startAt && startAt < one.endAt);
    return {
      startAt,
      endAt: starts[place + 1] ?? period.endAt,
      billedUpTo,
      isUnbillable: billedUpTo === null && isLeftOut,
    };
  });
}
