import { formatExact, rational } from '../../../core/decimal';
import type { Grant } from './grant';
import {
  carryInto,
  dropUnneededWindow,
  lastEndOf,
  type Recalculation,
  windowFor,
} from './recalculation';
import type { BillingSchedule, Reset, ResetWindow } from './reset-window';

const at = (text: string): Date => new Date(`2026-${text}Z`);
const MARCH: ResetWindow = {
  reset: 'period',
  startAt: at('03-10T00:00'),
  endAt: at('04-10T00:00'),
};

describe('the window of a balance at an instant', () => {
  const billing: BillingSchedule = {
    startAt: at('01-10T00:00'),
    currentPeriod: { startAt: at('03-10T00:00'), endAt: at('04-10T00:00') },
    anchor: {
      mode: 'anniversary',
      startAt: at('01-10T00:00'),
      timeZone: 'America/New_York',
      interval: 'month',
      intervalCount: 1,
    },
  };

  test.each<[Reset, string, string, string | null]>([
    ['period', '03-20T12:00', '03-10T00:00', '04-10T00:00'],
    ['never', '03-20T12:00', '01-10T00:00', null],
    ['day', '03-20T02:00', '03-19T04:00', '03-20T04:00'],
    ['week', '03-20T12:00', '03-16T04:00', '03-23T04:00'],
    ['month', '03-20T12:00', '03-01T05:00', '04-01T04:00'],
    ['year', '03-20T12:00', '01-01T05:00', null],
  ])('follows the rule of the subscription: %s', (reset, instant, startAt, endAt) => {
    const window = windowFor({ reset, billing }, null, at(instant));
    const year = reset === 'year' ? new Date('2027-01-01T05:00:00Z') : null;
    expect(window).toEqual({
      reset,
      startAt: at(startAt),
      endAt: endAt === null ? year : at(endAt),
    });
  });

  test.each<[string, ResetWindow | null, string, ResetWindow]>([
    ['goes on while it lasts', MARCH, '04-09T23:59', MARCH],
    [
      'is followed by one without an end',
      MARCH,
      '04-10T00:00',
      { reset: 'never', startAt: at('04-10T00:00'), endAt: null },
    ],
    [
      'starts with the first grant',
      null,
      '04-15T08:00',
      { reset: 'never', startAt: at('04-15T08:00'), endAt: null },
    ],
    [
      'without an end stays',
      { reset: 'never', startAt: at('02-01T00:00'), endAt: null },
      '04-15T08:00',
      { reset: 'never', startAt: at('02-01T00:00'), endAt: null },
    ],
  ])('for grants alone it %s', (_, current, instant, expected) => {
    expect(windowFor(null, current, at(instant))).toEqual(expected);
  });
});

describe('a window without an end that is carried into the next', () => {
  const grant = (id: string, priority: number, balance: bigint): Grant => ({
    id,
    version: 1,
    customerId: 'cus_1',
    entitlementId: 'ent_1',
    value: rational(balance),
    priority,
    rollover: null,
    expiresAt: null,
    balance: rational(balance),
    end: null,
    endedAt: null,
    metadata: {},
    createdAt: at('01-01T00:00'),
    updatedAt: at('01-01T00:00'),
  });
  const stateOf = (used: bigint): Recalculation => ({
    counter: {
      window: { reset: 'never', startAt: at('01-01T00:00'), endAt: null },
      coveredUntil: null,
      used: rational(used),
      expiredGrantUsage: rational(0n),
      planUsage: rational(0n),
      notifiedThresholds: [80],
    },
    grants: [grant('first', 1, 100n), grant('second', 2, 50n)],
    ended: [],
  });

  test.each<[bigint, bigint, readonly string[]]>([
    [0n, 0n, ['100', '50']],
    [0n, 30n, ['70', '50']],
    [0n, 130n, ['0', '20']],
    [40n, 60n, ['80', '50']],
    [0n, 500n, ['0', '0']],
  ])('allowance %d and %d used leave the grants %j', (allowance, used, expected) => {
    const next = carryInto(stateOf(used), rational(allowance), MARCH);
    expect(
      next.grants.map(({ balance }) => (balance === null ? null : formatExact(balance))),
    ).toEqual(expected);
    expect(next.counter.window).toEqual(MARCH);
    expect(formatExact(next.counter.used)).toBe('0');
    expect(next.counter.notifiedThresholds).toEqual([]);
    expect(next.ended).toEqual([]);
  });
});

describe('a window that nothing gives any more', () => {
  const ENDLESS: ResetWindow = { reset: 'never', startAt: at('04-01T00:00'), endAt: null };
  const counter = (window: ResetWindow | null, used: bigint, covered = 0n) => ({
    window,
    coveredUntil: null,
    used: rational(used),
    expiredGrantUsage: rational(covered),
    planUsage: rational(0n),
    notifiedThresholds: [],
  });

  test.each<[string, ResetWindow, bigint, bigint, string, string | null, string | null]>([
    ['is dropped without usage', ENDLESS, 0n, 0n, '04-05T00:00', '04-04T00:00', '04-01T00:00'],
    ['is dropped if no end is known', ENDLESS, 0n, 0n, '04-05T00:00', null, '04-01T00:00'],
    ['stays with usage', ENDLESS, 5n, 0n, '04-05T00:00', '04-04T00:00', null],
    ['stays with usage of a grant', ENDLESS, 0n, 5n, '04-05T00:00', '04-04T00:00', null],
    ['stays with usage until it ends', MARCH, 5n, 0n, '04-09T00:00', '04-01T00:00', null],
    ['is dropped at its end', MARCH, 5n, 0n, '04-10T00:00', '04-01T00:00', '04-10T00:00'],
    ['is dropped after a later end', MARCH, 5n, 0n, '04-20T00:00', '04-15T00:00', '04-15T00:00'],
  ])('%s', (_, window, used, covered, now, lastEnd, coveredUntil) => {
    const state = { counter: counter(window, used, covered), grants: [], ended: [] };
    const found = dropUnneededWindow(state, at(now), lastEnd === null ? null : at(lastEnd));
    const dropped = coveredUntil === null ? null : at(coveredUntil);
    const expected = { ...counter(null, 0n), coveredUntil: dropped };
    expect(found.counter).toEqual(dropped === null ? state.counter : expected);
  });

  test('ends with the last subscription or grant', () => {
    const ends = new Map([['sub_1', at('04-01T00:00')]]);
    const ended = [{ endedAt: at('04-03T00:00') }, { endedAt: at('04-02T00:00') }];
    expect(lastEndOf(ends, ended)).toEqual(at('04-03T00:00'));
    expect(lastEndOf(ends, [])).toEqual(at('04-01T00:00'));
    expect(lastEndOf(new Map(), [])).toBeNull();
  });
});
