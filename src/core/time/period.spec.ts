import { contains, elapsedSeconds, localDateCount, localDateOn, type Period } from './index';
import { isTimeZone } from './zone';

const period = (startAt: string, endAt: string): Period => ({
  startAt: new Date(startAt),
  endAt: new Date(endAt),
});

describe('a period is half open', () => {
  const march = period('2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z');

  test.each([
    ['2026-02-28T23:59:59.999Z', false],
    ['2026-03-01T00:00:00.000Z', true],
    ['2026-03-31T23:59:59.999Z', true],
    ['2026-04-01T00:00:00.000Z', false],
  ])('%s: %s', (instant, inside) => {
    expect(contains(march, new Date(instant))).toBe(inside);
  });
});

describe('local dates are counted in the zone', () => {
  test.each([
    ['UTC', '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', 31n],
    ['Europe/Paris', '2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z', 31n],
    ['America/New_York', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z', 1n], // 23 hours
    ['America/New_York', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z', 1n], // 25 hours
    ['UTC', '2024-02-01T00:00:00Z', '2024-03-01T00:00:00Z', 29n],
    ['UTC', '2026-03-01T08:00:00Z', '2026-03-01T20:00:00Z', 0n],
    ['UTC', '2026-03-01T23:59:59Z', '2026-03-02T00:00:00Z', 1n],
    ['Pacific/Apia', '2011-12-01T10:00:00Z', '2011-12-31T10:00:00Z', 31n], // the 30th is a date, too
  ])('%s %s to %s: %d', (timeZone, startAt, endAt, dates) => {
    expect(localDateCount(period(startAt, endAt), timeZone)).toBe(dates);
  });

  test('the date is that of the zone', () => {
    expect(localDateOn(new Date('2026-03-31T22:30:00Z'), 'Europe/Paris')).toBe('2026-04-01');
    expect(localDateOn(new Date('2011-12-30T10:00:00Z'), 'Pacific/Apia')).toBe('2011-12-31');
  });

  test.each([
    ['UTC', true],
    ['Europe/Paris', true],
    ['+02:00', false],
    ['', false],
    ['Europe/Nowhere', false],
  ])('%j as a zone: %s', (timeZone, expected) => {
    expect(isTimeZone(timeZone)).toBe(expected);
  });
});

describe('seconds are elapsed ones', () => {
  test.each([
    ['2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z', 31n * 86_400n - 3_600n], // Paris in March
    ['2026-03-01T00:00:00.900Z', '2026-03-01T00:00:01.100Z', 1n],
    ['2026-03-01T00:00:00.100Z', '2026-03-01T00:00:00.900Z', 0n],
    ['2026-03-01T00:00:00Z', '2026-03-01T00:00:00Z', 0n],
  ])('%s to %s: %d', (startAt, endAt, seconds) => {
    expect(elapsedSeconds(period(startAt, endAt))).toBe(seconds);
  });
});
