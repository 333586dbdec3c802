import fc from 'fast-check';
import { InvariantError } from '../invariant';
import {
  contains,
  localDateCount,
  monthsAfter,
  periodAt,
  periodContaining,
  periodFollowing,
  type BillingAnchor,
  type Interval,
} from './index';

const anniversary = (
  startAt: string,
  interval: Interval,
  timeZone = 'UTC',
  intervalCount = 1,
): BillingAnchor => ({
  mode: 'anniversary',
  startAt: new Date(startAt),
  timeZone,
  interval,
  intervalCount,
});
const calendar = (...parameters: Parameters<typeof anniversary>): BillingAnchor => ({
  ...anniversary(...parameters),
  mode: 'calendar',
});

/** The ends of the first periods, as UTC text. */
const ends = (anchor: BillingAnchor, count: number) =>
  Array.from({ length: count }, (_, index) => periodAt(anchor, index).endAt.toISOString());

describe('an anniversary keeps the local date and time of the anchor', () => {
  test.each<[string, BillingAnchor, string[]]>([
    [
      'the 31st gives the last day of shorter months and comes back',
      anniversary('2026-01-31T00:00:00Z', 'month'),
      ['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30'].map(
        (date) => `${date}T00:00:00.000Z`,
      ),
    ],
    [
      'the 30th passes through February of a leap year',
      anniversary('2024-01-30T12:00:00Z', 'month'),
      ['2024-02-29T12:00:00.000Z', '2024-03-30T12:00:00.000Z'],
    ],
    [
      '29 February, yearly, returns in the next leap year',
      anniversary('2024-02-29T00:00:00Z', 'year'),
      ['2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29'].map((d) => `${d}T00:00:00.000Z`),
    ],
    [
      'a quarter is three months',
      anniversary('2025-11-30T00:00:00Z', 'month', 'UTC', 3),
      ['2026-02-28T00:00:00.000Z', '2026-05-30T00:00:00.000Z'],
    ],
    [
      'two weeks',
      anniversary('2026-01-01T08:00:00Z', 'week', 'UTC', 2),
      ['2026-01-15T08:00:00.000Z', '2026-01-29T08:00:00.000Z'],
    ],
    [
      'New York: 02:30 does not exist on 8 March and is 03:30; April is at 02:30 again',
      anniversary('2026-02-08T07:30:00Z', 'month', 'America/New_York'),
      ['2026-03-08T07:30:00.000Z', '2026-04-08T06:30:00.000Z'],
    ],
    [
      'New York: 01:30 comes twice on 1 November and is the first',
      anniversary('2026-10-01T05:30:00Z', 'month', 'America/New_York'),
      ['2026-11-01T05:30:00.000Z', '2026-12-01T06:30:00.000Z'],
    ],
    [
      'New York: an anchor at the second 01:30 keeps its own instant',
      anniversary('2026-11-01T06:30:00Z', 'day', 'America/New_York'),
      ['2026-11-02T06:30:00.000Z'],
    ],
    [
      'Paris: midnight stays midnight through the summer',
      anniversary('2026-02-28T23:00:00Z', 'month', 'Europe/Paris'),
      ['2026-03-31T22:00:00.000Z', '2026-04-30T22:00:00.000Z'],
    ],
    [
      'Lord Howe moves by half an hour: 02:15 does not exist on 4 October and is 02:45',
      anniversary('2026-09-03T15:45:00Z', 'month', 'Australia/Lord_Howe'),
      ['2026-10-03T15:45:00.000Z', '2026-11-03T15:15:00.000Z'],
    ],
    [
      'Apia: 30 December 2011 did not happen and ends with the 31st',
      anniversary('2011-12-28T20:00:00Z', 'day', 'Pacific/Apia'),
      ['2011-12-29T20:00:00.000Z', '2011-12-30T20:00:00.000Z', '2011-12-30T20:00:00.000Z'],
    ],
  ])('%s', (_, anchor, expected) => {
    const first = periodAt(anchor, 0);
    expect(first.startAt).toEqual(anchor.startAt);
    expect(first.fullPeriod).toEqual({ startAt: first.startAt, endAt: first.endAt });
    expect(ends(anchor, expected.length)).toEqual(expected);
  });
});

describe('a calendar anchor turns on local midnight and starts with a short period', () => {
  test.each<[string, BillingAnchor, string, string[]]>([
    [
      'month',
      calendar('2023-08-10T15:00:00Z', 'month'),
      '2023-08-01T00:00:00.000Z',
      ['2023-09-01T00:00:00.000Z', '2023-10-01T00:00:00.000Z'],
    ],
    [
      'the ISO week starts on Monday',
      calendar('2023-06-16T05:00:00Z', 'week', 'America/Halifax'),
      '2023-06-12T03:00:00.000Z',
      ['2023-06-19T03:00:00.000Z'],
    ],
    [
      'a Sunday is the last day of its week, a Monday the first',
      calendar('2026-03-01T00:00:00Z', 'week'),
      '2026-02-23T00:00:00.000Z',
      ['2026-03-02T00:00:00.000Z'],
    ],
    [
      'year',
      calendar('2024-07-01T00:00:00Z', 'year', 'America/New_York'),
      '2024-01-01T05:00:00.000Z',
      ['2025-01-01T05:00:00.000Z'],
    ],
    [
      'the month is that of the zone, not of UTC',
      calendar('2026-03-31T22:30:00Z', 'month', 'Europe/Paris'),
      '2026-03-31T22:00:00.000Z',
      ['2026-04-30T22:00:00.000Z'],
    ],
    [
      'a day whose midnight does not exist starts at its first instant',
      calendar('2018-11-03T12:00:00Z', 'day', 'America/Sao_Paulo'),
      '2018-11-03T03:00:00.000Z',
      ['2018-11-04T03:00:00.000Z', '2018-11-05T02:00:00.000Z'],
    ],
    // At 00:01 on 1 November 2009, the clock of St. John's went back to 23:01.
    [
      'a day begins at the first of two midnights, so a start between them belongs to that day',
      calendar('2009-11-01T02:45:00Z', 'day', 'America/St_Johns'),
      '2009-11-01T02:30:00.000Z',
      ['2009-11-02T03:30:00.000Z', '2009-11-03T03:30:00.000Z'],
    ],
    [
      'and so does its month',
      calendar('2009-11-01T02:45:00Z', 'month', 'America/St_Johns', 3),
      '2009-11-01T02:30:00.000Z',
      ['2010-02-01T03:30:00.000Z'],
    ],
    [
      'a start before both midnights belongs to the day before',
      calendar('2009-11-01T02:29:59Z', 'day', 'America/St_Johns'),
      '2009-10-31T02:30:00.000Z',
      ['2009-11-01T02:30:00.000Z', '2009-11-02T03:30:00.000Z'],
    ],
  ])('%s', (_, anchor, fullStartAt, expected) => {
    const first = periodAt(anchor, 0);
    expect(first.startAt).toEqual(anchor.startAt);
    expect(first.fullPeriod.startAt.toISOString()).toBe(fullStartAt);
    expect(first.fullPeriod.endAt).toEqual(first.endAt);
    expect(ends(anchor, expected.length)).toEqual(expected);
    const second = periodAt(anchor, 1);
    expect(second.fullPeriod).toEqual({ startAt: second.startAt, endAt: second.endAt });
  });

  test('a start on the boundary has a whole first period', () => {
    const first = periodAt(calendar('2026-03-01T00:00:00Z', 'month'), 0);
    expect(first.fullPeriod.startAt).toEqual(first.startAt);
  });
});

describe('the period that holds an instant', () => {
  const anchor = anniversary('2026-01-31T10:00:00Z', 'month');

  test.each([
    ['2026-01-31T09:59:59.999Z', undefined],
    ['2026-01-31T10:00:00.000Z', 0],
    ['2026-02-28T09:59:59.999Z', 0],
    ['2026-02-28T10:00:00.000Z', 1],
    ['2031-03-31T10:00:00.000Z', 62],
  ])('%s is in period %s', (instant, index) => {
    expect(periodContaining(anchor, new Date(instant))?.index).toBe(index);
  });
});

describe('the period that follows another one', () => {
  const monthly = anniversary('2026-01-31T10:00:00Z', 'month');
  const apia = anniversary('2011-12-28T20:00:00Z', 'day', 'Pacific/Apia');

  test.each<[string, BillingAnchor, [number, string], [number, string]]>([
    ['at its end', monthly, [0, '2026-02-28T10:00:00Z'], [1, '2026-03-31T10:00:00Z']],
    [
      'also if the boundary is earlier',
      monthly,
      [0, '2026-02-28T11:00:00Z'],
      [1, '2026-03-31T10:00:00Z'],
    ],
    [
      'also if the boundary is later',
      monthly,
      [0, '2026-02-28T09:00:00Z'],
      [1, '2026-03-31T10:00:00Z'],
    ],
    ['and ends after it', monthly, [0, '2026-03-31T10:00:00Z'], [2, '2026-04-30T10:00:00Z']],
    [
      'and is not a day that the zone skipped',
      apia,
      [1, '2011-12-30T20:00:00Z'],
      [3, '2011-12-31T20:00:00Z'],
    ],
  ])('starts %s', (_, anchor, [index, endAt], [nextIndex, nextEnd]) => {
    const next = periodFollowing(anchor, { index, endAt: new Date(endAt) });
    const span = { startAt: new Date(endAt), endAt: new Date(nextEnd) };
    expect(next).toEqual({ index: nextIndex, ...span, fullPeriod: span });
  });
});

describe('for any anchor', () => {
  const anchors = fc.record({
    mode: fc.constantFrom('anniversary' as const, 'calendar' as const),
    startAt: fc.date({
      min: new Date('2005-01-01T00:00:00Z'),
      max: new Date('2030-01-01T00:00:00Z'),
      noInvalidDate: true,
    }),
    timeZone: fc.constantFrom(
      ...['UTC', 'America/New_York', 'Europe/Paris', 'Australia/Lord_Howe', 'Pacific/Apia'],
    ),
    interval: fc.constantFrom<Interval>('day', 'week', 'month', 'year'),
    intervalCount: fc.integer({ min: 1, max: 6 }),
  });

  test('periods adjoin, never overlap, and their dates add up to the dates of the whole', () => {
    fc.assert(
      fc.property(anchors, fc.integer({ min: 0, max: 40 }), (anchor, from) => {
        const periods = [0, 1, 2, 3].map((step) => periodAt(anchor, from + step));
        for (const { startAt, endAt } of periods) expect(startAt < endAt).toBe(true);
        periods.slice(1).forEach((period, at) => {
          expect(period.startAt).toEqual(periods[at]?.endAt);
        });
        const whole = {
          startAt: periodAt(anchor, from).startAt,
          endAt: periodAt(anchor, from + 3).endAt,
        };
        const dates = periods.map((period) => localDateCount(period, anchor.timeZone));
        expect(dates.reduce((all, one) => all + one, 0n)).toBe(
          localDateCount(whole, anchor.timeZone),
        );
      }),
      { numRuns: 60 },
    );
  });

  test('an instant is in exactly the period that is found for it', () => {
    fc.assert(
      fc.property(anchors, fc.nat(10 * 366 * 86_400_000), (anchor, laterMs) => {
        const instant = new Date(anchor.startAt.getTime() + laterMs);
        const found = periodContaining(anchor, instant);
        expect(found !== undefined && contains(found, instant)).toBe(true);
        expect(found).toEqual(periodAt(anchor, found?.index ?? -1));
      }),
      { numRuns: 60 },
    );
  });
});

describe('months that begin with a period', () => {
  test.each([
    ['skipped at 02:30', 'America/New_York', '2026-03-08T07:30:00Z', 1, '2026-04-08T06:30:00.000Z'],
    ['skipped at midnight', 'Asia/Beirut', '2026-03-28T22:00:00Z', 2, '2026-05-28T21:00:00.000Z'],
    ['a skipped date', 'Pacific/Apia', '2011-12-30T20:00:00Z', 1, '2012-01-29T20:00:00.000Z'],
    ['on that date', 'America/New_York', '2026-03-08T08:30:00Z', 1, '2026-04-08T08:30:00.000Z'],
    ['a repeated hour', 'America/New_York', '2026-11-01T06:30:00Z', 1, '2026-12-01T06:30:00.000Z'],
    ['a short month', 'UTC', '2026-01-31T00:00:00Z', 1, '2026-02-28T00:00:00.000Z'],
  ])('%s', (_, timeZone, startAt, months, end) => {
    expect(monthsAfter(new Date(startAt), months, timeZone).toISOString()).toBe(end);
  });

  test('are as many monthly periods, whatever the anchor', () => {
    const hours = fc.nat(24 * 366 * 20);
    const zones = fc.constantFrom('America/New_York', 'Asia/Beirut', 'Australia/Lord_Howe');
    fc.assert(
      fc.property(hours, zones, fc.nat(24), fc.integer({ min: 1, max: 6 }), (hour, zone, at, n) => {
        const start = new Date(Date.UTC(2010, 0, 1, hour, 30)).toISOString();
        const anchor = anniversary(start, 'month', zone);
        const end = monthsAfter(periodAt(anchor, at).startAt, n, zone);
        expect(end > periodAt(anchor, at + n - 1).startAt).toBe(true);
        expect(end <= periodAt(anchor, at + n).startAt).toBe(true);
      }),
    );
  });
});

describe('what is not an anchor is refused', () => {
  test.each<[string, () => unknown]>([
    ['a zone that does not exist', () => periodAt(anniversary('2026-01-01Z', 'day', 'Mars/X'), 0)],
    ['an offset', () => periodAt(anniversary('2026-01-01Z', 'day', '+02:00'), 0)],
    ['no interval', () => periodAt(anniversary('2026-01-01Z', 'day', 'UTC', 0), 0)],
    ['half an interval', () => periodAt(anniversary('2026-01-01Z', 'day', 'UTC', 0.5), 0)],
    ['no start', () => periodAt(anniversary('never', 'day'), 0)],
    ['a negative index', () => periodAt(anniversary('2026-01-01Z', 'day'), -1)],
    ['a period after the year 9999', () => periodAt(anniversary('2026-01-01Z', 'year'), 8000)],
    ['an index without end', () => periodAt(anniversary('2026-01-01Z', 'day'), 10 ** 9)],
    ['no instant', () => periodContaining(anniversary('2026-01-01Z', 'day'), new Date('never'))],
  ])('%s', (_, attempt) => {
    expect(attempt).toThrow(InvariantError);
  });
});
