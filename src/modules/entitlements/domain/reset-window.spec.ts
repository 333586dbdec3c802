import {
  balanceTime,
  type BillingSchedule,
  type Reset,
  windowAt,
  type WindowRule,
} from './reset-window';
import { accessOf, type AccessState } from './access';

const at = (text: string) => new Date(text);

function billing(timeZone = 'UTC'): BillingSchedule {
  return {
    startAt: at('2026-01-31T10:00:00Z'),
    currentPeriod: { startAt: at('2026-02-28T10:00:00Z'), endAt: at('2026-03-31T10:00:00Z') },
    anchor: {
      mode: 'anniversary',
      startAt: at('2026-01-31T10:00:00Z'),
      timeZone,
      interval: 'month',
      intervalCount: 1,
    },
  };
}

describe('the window that contains an instant', () => {
  test.each<[Reset, string, string, string, string | null]>([
    [
      'period',
      'UTC',
      '2026-03-15T00:00:00Z',
      '2026-02-28T10:00:00.000Z',
      '2026-03-31T10:00:00.000Z',
    ],
    // The renewal is late: the window is the period that the renewal will start.
    [
      'period',
      'UTC',
      '2026-03-31T10:00:00Z',
      '2026-03-31T10:00:00.000Z',
      '2026-04-30T10:00:00.000Z',
    ],
    [
      'period',
      'UTC',
      '2026-05-01T00:00:00Z',
      '2026-04-30T10:00:00.000Z',
      '2026-05-31T10:00:00.000Z',
    ],
    ['day', 'UTC', '2026-03-15T23:59:59Z', '2026-03-15T00:00:00.000Z', '2026-03-16T00:00:00.000Z'],
    [
      'day',
      'Europe/Paris',
      '2026-03-29T12:00:00Z',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ],
    [
      'day',
      'America/New_York',
      '2026-11-01T12:00:00Z',
      '2026-11-01T04:00:00.000Z',
      '2026-11-02T05:00:00.000Z',
    ],
    ['week', 'UTC', '2026-03-01T00:00:00Z', '2026-02-23T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    [
      'month',
      'Europe/Paris',
      '2026-03-31T22:30:00Z',
      '2026-03-31T22:00:00.000Z',
      '2026-04-30T22:00:00.000Z',
    ],
    ['year', 'UTC', '2026-03-31T22:30:00Z', '2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['never', 'UTC', '2026-03-31T22:30:00Z', '2026-01-31T10:00:00.000Z', null],
  ])('by %s in %s at %s is %s to %s', (reset, timeZone, instant, startAt, endAt) => {
    const window = windowAt(reset, billing(timeZone), at(instant));
    expect([window.startAt.toISOString(), window.endAt?.toISOString() ?? null]).toEqual([
      startAt,
      endAt,
    ]);
  });

  test('before the current period lies one that ends with its start', () => {
    const window = windowAt('period', billing(), at('2026-02-01T00:00:00Z'));
    expect(window).toMatchObject({ endAt: at('2026-02-28T10:00:00Z') });
  });
});

describe('the time of a balance', () => {
  const period = (startAt: string) => ({ startAt: at(startAt), endAt: at('2026-05-01T00:00:00Z') });
  const rule = (reset: Reset, startAt: string): WindowRule => ({
    reset,
    billing: { ...billing(), currentPeriod: period(startAt) },
  });

  test.each<[string, { readonly startAt: Date } | null, WindowRule | null, string]>([
    ['the clock', null, null, '2026-03-31T23:59:50.000Z'],
    ['the clock', period('2026-03-01T00:00:00Z'), null, '2026-03-31T23:59:50.000Z'],
    ['the window', period('2026-04-01T00:00:00Z'), null, '2026-04-01T00:00:00.000Z'],
    ['the period', null, rule('period', '2026-04-01T00:00:00Z'), '2026-04-01T00:00:00.000Z'],
    ['the period', null, rule('day', '2026-04-01T00:00:00Z'), '2026-04-01T00:00:00.000Z'],
    ['the clock', period('2026-04-01T00:00:00.001Z'), null, '2026-03-31T23:59:50.000Z'],
  ])('is that of %s', (_, window, windowRule, expected) => {
    const time = balanceTime(at('2026-03-31T23:59:50Z'), window, windowRule);
    expect(time.toISOString()).toBe(expected);
  });
});

describe('access', () => {
  const GRACE_MS = 3 * 86_400_000;
  const now = at('2026-03-10T00:00:00Z');
  const state = (fields: Partial<AccessState>): AccessState => ({
    status: 'active',
    pastDueSince: null,
    cancelAt: null,
    ...fields,
  });

  test.each<[Partial<AccessState>, boolean, string | null]>([
    [{ status: 'active' }, true, null],
    [{ status: 'trialing' }, true, null],
    [{ status: 'incomplete' }, false, null],
    [{ status: 'incomplete_expired' }, false, null],
    [{ status: 'paused' }, false, null],
    [{ status: 'unpaid' }, false, null],
    [{ status: 'canceled' }, false, null],
    [{ cancelAt: at('2026-03-10T00:00:00Z') }, false, null],
    [{ cancelAt: at('2026-03-10T00:00:00.001Z') }, true, '2026-03-10T00:00:00.001Z'],
    [
      { status: 'past_due', pastDueSince: at('2026-03-07T00:00:00.001Z') },
      true,
      '2026-03-10T00:00:00.001Z',
    ],
    [{ status: 'past_due', pastDueSince: at('2026-03-07T00:00:00Z') }, false, null],
    [{ status: 'past_due', pastDueSince: null }, true, null],
    [
      { status: 'past_due', pastDueSince: at('2026-03-09Z'), cancelAt: at('2026-03-11T00:00:00Z') },
      true,
      '2026-03-11T00:00:00.000Z',
    ],
  ])('of %j is %s until %s', (fields, isGiven, until) => {
    const access = accessOf(state(fields), GRACE_MS, now);
    expect([access.isGiven, access.until?.toISOString() ?? null]).toEqual([isGiven, until]);
  });
});
