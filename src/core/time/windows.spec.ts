import { periodAt } from './billing-anchor';
import { type WindowInterval, windowsOf } from './windows';

const HOUR_MS = 3_600_000;
const NEVER = new Date(8.64e15);

const startsOf = (
  from: string,
  to: string,
  timeZone: string,
  interval: WindowInterval,
): readonly string[] | undefined =>
  windowsOf({ startAt: new Date(from), endAt: new Date(to) }, timeZone, interval, 2_000)?.map(
    ({ startAt }) => startAt.toISOString().slice(5, 16),
  );

describe('windows of usage', () => {
  test.each<[string, WindowInterval, string, string, string[]]>([
    ['UTC', 'day', '03-01T12:00', '03-03T12:00', ['03-01T12:00', '03-02T00:00', '03-03T00:00']],
    [
      'Asia/Kathmandu',
      'hour',
      '03-01T00:00',
      '03-01T01:30',
      ['03-01T00:00', '03-01T00:15', '03-01T01:15'],
    ],
    // The day on which the clock goes forward is 23 hours long.
    [
      'America/New_York',
      'day',
      '03-07T05:00',
      '03-10T00:00',
      ['03-07T05:00', '03-08T05:00', '03-09T04:00'],
    ],
    [
      'America/New_York',
      'month',
      '02-01T05:00',
      '05-01T04:00',
      ['02-01T05:00', '03-01T05:00', '04-01T04:00'],
    ],
    // The clock goes back by half an hour at 15:00 UTC, so that this half hour occurs twice in local time.
    [
      'Australia/Lord_Howe',
      'hour',
      '04-04T13:00',
      '04-04T16:30',
      ['04-04T13:00', '04-04T14:00', '04-04T15:00', '04-04T15:30'],
    ],
    [
      'Australia/Lord_Howe',
      'hour',
      '10-03T14:00',
      '10-03T17:00',
      ['10-03T14:00', '10-03T14:30', '10-03T15:30', '10-03T16:00'],
    ],
    // The clock goes from 02:45 to 03:45, and in April from 03:45 to 02:45, both at 14:00 UTC.
    [
      'Pacific/Chatham',
      'hour',
      '09-26T12:15',
      '09-26T15:00',
      ['09-26T12:15', '09-26T13:15', '09-26T14:00', '09-26T14:15'],
    ],
    [
      'Pacific/Chatham',
      'hour',
      '04-04T13:30',
      '04-04T15:30',
      ['04-04T13:30', '04-04T14:00', '04-04T14:15', '04-04T15:15'],
    ],
  ])('%s, %s', (timeZone, interval, from, to, expected) => {
    expect(startsOf(`2026-${from}:00Z`, `2026-${to}:00Z`, timeZone, interval)).toEqual(expected);
  });

  test.each(['Asia/Kathmandu', 'Australia/Lord_Howe', 'America/New_York', 'Pacific/Apia'])(
    'adjoin and fill the year in %s',
    (timeZone) => {
      const year = { startAt: new Date('2011-01-01T00:00:00Z'), endAt: new Date('2012-01-01Z') };
      for (const interval of ['hour', 'day', 'month'] as const) {
        const windows = windowsOf(year, timeZone, interval, 10_000) ?? [];
        expect(windows.at(0)?.startAt).toEqual(year.startAt);
        expect(windows.at(-1)?.endAt).toEqual(year.endAt);
        const wrong = windows.filter(
          ({ startAt, endAt }, place) =>
            endAt <= startAt ||
            (place > 0 && startAt.getTime() !== windows[place - 1]?.endAt.getTime()) ||
            (interval === 'hour' && endAt.getTime() - startAt.getTime() > HOUR_MS),
        );
        expect(wrong).toEqual([]);
      }
    },
  );

  test('of days begin between the two midnights of a day', () => {
    const [from, to] = ['2009-11-01T02:45:00Z', '2009-11-03T00:00:00Z'];
    expect(startsOf(from, to, 'America/St_Johns', 'day')).toEqual(['11-01T02:45', '11-02T03:30']);
  });

  // Zones that skipped or repeated a day, that change the clock at midnight, or that have whole seconds in old offsets.
  test.each([
    ['Pacific/Apia', '2011-12-20T10:00:00Z'],
    ['Pacific/Kwajalein', '1969-09-20T01:00:00Z'],
    ['Asia/Manila', '1844-12-20T03:00:00Z'],
    ['America/Juneau', '1867-10-10T12:00:00Z'],
    ['America/Sao_Paulo', '2017-10-01T12:00:00Z'],
    ['Africa/Monrovia', '1971-12-20T00:00:00Z'],
    ['America/St_Johns', '2009-10-20T02:45:00Z'],
    ['Africa/Casablanca', '2030-01-01T00:00:00Z'],
  ])('are the calendar periods that are not empty, in %s', (timeZone, from) => {
    for (const interval of ['day', 'week', 'month'] as const) {
      const anchor = { mode: 'calendar', timeZone, interval, intervalCount: 1 } as const;
      const periods = Array.from({ length: 60 }, (_, index) =>
        periodAt({ ...anchor, startAt: new Date(from) }, index),
      )
        .filter(({ startAt, endAt }) => startAt < endAt)
        .map(({ startAt, endAt }) => ({ startAt, endAt }));
      const [first, last] = [periods.at(0), periods.at(-1)];
      const whole = { startAt: first?.startAt ?? NEVER, endAt: last?.endAt ?? NEVER };
      expect(windowsOf(whole, timeZone, interval, 60)).toEqual(periods);
    }
  });

  test('are as many as asked for, or none', () => {
    const day = { startAt: new Date('2026-01-01T00:00:00Z'), endAt: new Date('2026-01-02Z') };
    expect(windowsOf(day, 'UTC', 'hour', 24)).toHaveLength(24);
    expect(windowsOf(day, 'UTC', 'hour', 23)).toBeNull();
  });
});
