import * as fc from 'fast-check';
import type { Period } from '../../../core/time';
import { type CountedBill, outcomeSpans } from './usage-outcomes';

const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));
const days = (from: number, to: number): Period => ({ startAt: day(from), endAt: day(to) });
const bill = (from: number, to: number, upToPosition: bigint): CountedBill => ({
  countedFromAt: day(from),
  endAt: day(to),
  upToPosition,
});

/** Returns for each span its first day, its end day, the billed position, and true if no bill will count its events. */
const shown = (...requested: Parameters<typeof outcomeSpans>): readonly (readonly unknown[])[] =>
  outcomeSpans(...requested).map(({ startAt, endAt, billedUpTo, isUnbillable }) => [
    startAt.getUTCDate(),
    endAt.getUTCDate(),
    billedUpTo,
    isUnbillable,
  ]);

describe('the outcome of the events of a period', () => {
  it('is one span where nothing was billed', () => {
    expect(shown(days(1, 9), [], [])).toEqual([[1, 9, null, false]]);
  });

  it('changes at the boundaries of bills', () => {
    expect(shown(days(2, 20), [bill(1, 5, 7n), bill(10, 31, 9n)], [])).toEqual([
      [2, 5, 7n, false],
      [5, 10, null, false],
      [10, 20, 9n, false],
    ]);
  });

  it('is that of the bill that counted least, where events change several', () => {
    expect(shown(days(1, 20), [bill(1, 10, 7n), bill(1, 20, 5n)], [])).toEqual([
      [1, 10, 5n, false],
      [10, 20, 5n, false],
    ]);
  });

  it('is unbillable in unbillable periods, unless a bill counts them', () => {
    expect(shown(days(1, 20), [bill(5, 8, 7n)], [days(4, 10)])).toEqual([
      [1, 4, null, false],
      [4, 5, null, true],
      [5, 8, 7n, false],
      [8, 10, null, true],
      [10, 20, null, false],
    ]);
  });

  it('of each day is that of the bills and unbillable periods that contain it', () => {
    const range = fc.tuple(fc.integer({ min: -3, max: 35 }), fc.integer({ min: 0, max: 20 }));
    const bills = range.chain(([from, length]) =>
      fc.bigInt({ min: 1n, max: 4n }).map((upTo) => bill(from, from + length, upTo)),
    );
    const unbillable = range.map(([from, length]) => days(from, from + length));
    fc.assert(
      fc.property(fc.array(bills), fc.array(unbillable, { maxLength: 3 }), (some, others) => {
        const spans = outcomeSpans(days(1, 29), some, others);
        expect([spans.at(0)?.startAt, spans.at(-1)?.endAt]).toEqual([day(1), day(29)]);
        spans.slice(1).forEach((span, place) => expect(span.startAt).toEqual(spans[place]?.endAt));
        const daily = Array.from({ length: 28 }, (_, place) => day(place + 1));
        const found = daily.map((at) =>
          spans.find(({ startAt, endAt }) => startAt <= at && at < endAt),
        );
        const expected = daily.map((at) => {
          const positions = some
            .filter(({ countedFromAt, endAt }) => countedFromAt <= at && at < endAt)
            .map(({ upToPosition }) => Number(upToPosition));
          const isBilled = positions.length > 0;
          const isNever = others.some(({ startAt, endAt }) => startAt <= at && at < endAt);
          return [isBilled ? BigInt(Math.min(...positions)) : null, !isBilled && isNever];
        });
        expect(found.map((span) => [span?.billedUpTo, span?.isUnbillable])).toEqual(expected);
      }),
    );
  });
});
