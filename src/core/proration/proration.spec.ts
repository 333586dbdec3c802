import fc from 'fast-check';
import { InvariantError } from '../invariant';
import { allocate, multiplyByRatio } from '../money';
import { periodAt, type BillingAnchor, type Period } from '../time';
import {
  factorOf,
  prorate,
  prorateBetween,
  unusedPart,
  type PartBoundary,
  type ProratedPart,
} from './index';

const period = (startAt: string, endAt: string): Period => ({
  startAt: new Date(startAt),
  endAt: new Date(endAt),
});
const part = (startAt: string, endAt: string, end: ProratedPart['end'] = 'border') => ({
  ...period(startAt, endAt),
  end,
});
const march = period('2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z');
const parisMarch = period('2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z');

describe('in days', () => {
  test.each<[string, ProratedPart, Period, string, bigint, bigint]>([
    ['a whole month', part('2026-03-01Z', '2026-04-01Z'), march, 'UTC', 31n, 31n],
    [
      'the date of a change belongs to the new price',
      part('2026-03-15T13:00:00Z', '2026-04-01T00:00:00Z'),
      march,
      'UTC',
      17n,
      31n,
    ],
    [
      'and not to the old one',
      part('2026-03-01T00:00:00Z', '2026-03-15T13:00:00Z'),
      march,
      'UTC',
      14n,
      31n,
    ],
    [
      'the date on which a subscription ends is billed',
      part('2026-03-01T00:00:00Z', '2026-03-15T13:00:00Z', 'termination'),
      march,
      'UTC',
      15n,
      31n,
    ],
    [
      'an end at midnight is on the date that begins',
      part('2026-03-01T00:00:00Z', '2026-03-15T00:00:00Z', 'termination'),
      march,
      'UTC',
      15n,
      31n,
    ],
    [
      'an end at the start of the period bills one date',
      part('2026-03-01T00:00:00Z', '2026-03-01T00:00:00Z', 'termination'),
      march,
      'UTC',
      1n,
      31n,
    ],
    [
      'an end with the period bills the period',
      part('2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', 'termination'),
      march,
      'UTC',
      31n,
      31n,
    ],
    [
      'an end on the last, half date of an anniversary bills no more than the period',
      part('2026-01-10T14:00:00Z', '2026-02-10T13:00:00Z', 'termination'),
      period('2026-01-10T14:00:00Z', '2026-02-10T14:00:00Z'),
      'UTC',
      31n,
      31n,
    ],
    [
      'dates are those of the zone',
      part('2026-03-14T23:30:00Z', '2026-03-31T22:00:00Z'),
      parisMarch,
      'Europe/Paris',
      17n,
      31n,
    ],
    [
      'a short first period is a part of the calendar month',
      part('2023-08-10T15:00:00Z', '2023-09-01T00:00:00Z'),
      period('2023-08-01T00:00:00Z', '2023-09-01T00:00:00Z'),
      'UTC',
      22n,
      31n,
    ],
    [
      'a period of one day',
      part('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'),
      period('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'),
      'UTC',
      1n,
      1n,
    ],
    [
      'February of a leap year',
      part('2024-02-12T06:00:00Z', '2024-03-01T00:00:00Z'),
      period('2024-02-01T00:00:00Z', '2024-03-01T00:00:00Z'),
      'UTC',
      18n,
      29n,
    ],
    // At 00:01 on 1 November 2009, the clock of St. John's went back to 23:01 on 31 October.
    [
      'a start between two midnights has the dates from the first of them',
      part('2009-11-01T02:45:00Z', '2009-11-15T12:00:00Z'),
      period('2009-11-01T02:30:00Z', '2009-12-01T03:30:00Z'),
      'America/St_Johns',
      14n,
      30n,
    ],
    [
      'an end between them has no date before it',
      part('2009-11-01T02:30:00Z', '2009-11-01T02:45:00Z'),
      period('2009-11-01T02:30:00Z', '2009-12-01T03:30:00Z'),
      'America/St_Johns',
      0n,
      30n,
    ],
    [
      'a part that ends on an earlier date than it starts has no date',
      part('2009-11-01T02:30:30Z', '2009-11-01T03:00:00Z'),
      period('2009-10-15T12:00:00Z', '2009-11-15T12:30:00Z'),
      'America/St_Johns',
      0n,
      31n,
    ],
  ])('%s', (_, partGiven, full, timeZone, numerator, denominator) => {
    const expected = { numerator, denominator, unit: 'day' };
    expect(prorate('day', partGiven, full, timeZone)).toEqual(expected);
  });
});

describe('in seconds the instant is the boundary', () => {
  test.each<[string, ProratedPart, Period, bigint, bigint]>([
    [
      'from the second it changes',
      part('2026-03-15T12:00:00Z', '2026-04-01T00:00:00Z'),
      march,
      16n * 86_400n + 43_200n,
      31n * 86_400n,
    ],
    [
      'an end bills up to the instant, not the day',
      part('2026-03-01T00:00:00Z', '2026-03-15T13:00:00Z', 'termination'),
      march,
      14n * 86_400n + 46_800n,
      31n * 86_400n,
    ],
    [
      'March of Paris is an hour short',
      part('2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z'),
      parisMarch,
      31n * 86_400n - 3_600n,
      31n * 86_400n - 3_600n,
    ],
  ])('%s', (_, partGiven, full, numerator, denominator) => {
    const expected = { numerator, denominator, unit: 'second' };
    expect(prorate('second', partGiven, full, 'Europe/Paris')).toEqual(expected);
  });
});

describe('between two boundaries', () => {
  const day = (text: string) => ({ at: new Date(text), unit: 'day' }) as const;
  const second = (text: string) => ({ at: new Date(text), unit: 'second' }) as const;
  const ofDays = (numerator: bigint, denominator = 31n) => ({
    numerator,
    denominator,
    unit: 'day',
  });
  const ofSeconds = (numerator: bigint, denominator = 31n * 86_400n) => ({
    ...{ numerator, denominator, unit: 'second' },
  });
  const afternoons = period('2026-03-01T18:00:00Z', '2026-04-01T18:00:00Z');

  test.each<[string, PartBoundary, PartBoundary, Period, unknown]>([
    [
      'from the start of the period in the unit of the end',
      second('2026-03-01T00:00:00Z'),
      day('2026-03-11T12:00:00Z'),
      march,
      ofDays(10n),
    ],
    ['of one unit', day('2026-03-11T12:00:00Z'), day('2026-03-21T18:00:00Z'), march, ofDays(10n)],
    [
      'from the start of a date to an instant',
      day('2026-03-11T12:00:00Z'),
      second('2026-03-21T18:00:00Z'),
      march,
      ofSeconds(10n * 86_400n + 64_800n),
    ],
    [
      'from an instant to the start of a date',
      second('2026-03-11T12:00:00Z'),
      day('2026-03-21T18:00:00Z'),
      march,
      ofSeconds(9n * 86_400n + 43_200n),
    ],
    [
      'from an instant to the start of its date',
      second('2026-03-11T12:00:00Z'),
      day('2026-03-11T18:00:00Z'),
      march,
      ofSeconds(0n),
    ],
    [
      'with dates as long as each other in a period that does not start at midnight',
      day('2026-03-11T12:00:00Z'),
      second('2026-03-21T18:00:00Z'),
      afternoons,
      ofSeconds(10n * 86_400n),
    ],
    [
      'and in one with a short date',
      day('2026-03-30T10:00:00Z'),
      second('2026-03-31T22:00:00Z'),
      parisMarch,
      // 2 of 31 dates. The 31 dates have 2,674,800 seconds in total.
      ofSeconds(2n * 2_674_800n, 31n * 2_674_800n),
    ],
  ])('%s', (_, from, to, full, expected) => {
    const timeZone = full === parisMarch ? 'Europe/Paris' : 'UTC';
    expect(prorateBetween(from, to, full, timeZone)).toEqual(expected);
  });
});

describe('the unused part', () => {
  const dates = (numerator: bigint) => ({ numerator, denominator: 31n, unit: 'day' as const });

  test('is what was billed less what was used', () => {
    expect(unusedPart(dates(14n), dates(22n))).toEqual(dates(8n));
    expect(unusedPart(dates(22n), dates(22n))).toEqual(dates(0n));
  });

  test.each<[string, () => unknown]>([
    ['more used than billed', () => unusedPart(dates(23n), dates(22n))],
    ['another period', () => unusedPart({ ...dates(1n), denominator: 30n }, dates(22n))],
    ['another unit', () => unusedPart({ ...dates(1n), unit: 'second' }, dates(22n))],
    [
      'a part that begins early',
      () => prorate('day', part('2026-02-28Z', '2026-03-02Z'), march, 'UTC'),
    ],
    [
      'a part that ends late',
      () => prorate('day', part('2026-03-31Z', '2026-04-02Z'), march, 'UTC'),
    ],
    [
      'an empty period',
      () =>
        prorate(
          'day',
          part('2026-03-01Z', '2026-03-01Z'),
          period('2026-03-01Z', '2026-03-01Z'),
          'UTC',
        ),
    ],
  ])('refused: %s', (_, attempt) => {
    expect(attempt).toThrow(InvariantError);
  });
});

describe('a period split in two', () => {
  const split = fc
    .record({
      startAt: fc.date({
        min: new Date('2005-01-01T00:00:00Z'),
        max: new Date('2030-01-01T00:00:00Z'),
        noInvalidDate: true,
      }),
      timeZone: fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia'),
      interval: fc.constantFrom('week' as const, 'month' as const, 'year' as const),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      unit: fc.constantFrom('day' as const, 'second' as const),
      amountMinor: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    })
    .map(({ share, ...rest }) => {
      const anchor: BillingAnchor = { ...rest, mode: 'anniversary', intervalCount: 1 };
      const { startAt, endAt } = periodAt(anchor, 0);
      const lengthMs = endAt.getTime() - startAt.getTime();
      const changeAt = new Date(startAt.getTime() + Math.floor(lengthMs * share));
      const [old, next] = [
        { startAt, endAt: changeAt, end: 'border' as const },
        { startAt: changeAt, endAt, end: 'border' as const },
      ].map((half) => prorate(rest.unit, half, { startAt, endAt }, rest.timeZone));
      return { ...rest, old, next };
    });

  test('adds up to the whole: exactly as a factor, within one minor unit when each line rounds', () => {
    fc.assert(
      fc.property(split, ({ old, next, amountMinor }) => {
        if (old === undefined || next === undefined) throw new Error('two halves');
        expect(old.numerator + next.numerator).toBe(old.denominator);
        expect(factorOf(old).denominator > 0n).toBe(true);
        const lines = [old, next].map(({ numerator, denominator }) =>
          multiplyByRatio(amountMinor, numerator, denominator),
        );
        const gap = lines.reduce((all, one) => all + one, 0n) - amountMinor;
        expect(gap >= -1n && gap <= 1n).toBe(true);
        const parts = allocate(amountMinor, [old.numerator, next.numerator]);
        expect(parts.reduce((all, one) => all + one, 0n)).toBe(amountMinor);
      }),
    );
  });
});
