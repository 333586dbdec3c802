import type { Proration } from '../../../core/proration';
import { roundAtLine } from '../../../core/rating';
import { rational } from '../../../core/decimal';
import type { ChargeLine, UsageLine } from './outcome';
import {
  advanceCharges,
  arrearsCharges,
  commandTime,
  nextPeriod,
  periodsBegun,
  periodsOverdue,
} from './periods';
import type { SoldPrice, Subscription, SubscriptionItem, SubscriptionPeriod } from './subscription';

const at = (text: string): Date => new Date(`2026-${text}Z`);
const START = at('03-01T00:00:00');
const END = at('04-01T00:00:00');

const subscription: Subscription = {
  id: 'sub_1',
  version: 1,
  customerId: 'cus_1',
  testClockId: null,
  status: 'active',
  planId: 'plan_1',
  planVersionId: 'planv_1',
  quantity: '1',
  addons: [],
  currency: 'USD',
  timeZone: 'UTC',
  collection: 'automatic',
  daysUntilDue: 0,
  paymentBehavior: 'allow_active',
  billingAnchor: 'anniversary',
  interval: 'month',
  intervalCount: 1,
  proration: 'day',
  startAt: START,
  incompleteExpiresAt: null,
  renewalFailedAt: null,
  renewalFailureCode: null,
  trialEndAt: null,
  trialEndingAt: null,
  anchorAt: START,
  currentPeriodStartAt: START,
  currentPeriodEndAt: END,
  pausedAt: null,
  cancelAt: null,
  canceledAt: null,
  endedAt: null,
  nextBillingAt: END,
  metadata: {},
  createdAt: START,
  updatedAt: START,
};

const period: SubscriptionPeriod = {
  id: 'sp_1',
  subscriptionId: 'sub_1',
  index: 0,
  startAt: START,
  endAt: END,
  fullStartAt: START,
  fullEndAt: END,
  isTrial: false,
  isClosed: false,
};

/** A price of 31.00 for a full period. */
const price = (parts: Partial<SoldPrice> = {}): SoldPrice => ({
  priceId: 'price_1',
  name: 'Base',
  timing: 'in_advance',
  rating: { model: 'flat', amountMinor: 3_100n },
  minimumMinor: null,
  maximumMinor: null,
  ...parts,
});

const item = (parts: Partial<SubscriptionItem> = {}): SubscriptionItem => ({
  id: 'si_1',
  subscriptionId: 'sub_1',
  addonId: null,
  price: price(),
  quantity: '1',
  proration: 'day',
  startAt: START,
  endAt: null,
  isPaused: false,
  plannedEndAt: null,
  endedBy: null,
  ...parts,
});

const amountOf = (proration: Proration | null): bigint => roundAtLine(rational(3_100n), proration);

/** Returns kind, start, end and amount of each line, for a price of 31.00. */
const shown = (lines: readonly (ChargeLine | UsageLine)[]) =>
  lines.map((line) => [
    line.kind,
    line.period.startAt.toISOString().slice(5, 16),
    line.period.endAt.toISOString().slice(5, 16),
    amountOf(line.proration),
  ]);

describe('the next period of a subscription', () => {
  test.each<
    [string, Partial<Subscription>, Partial<SubscriptionPeriod> | null, readonly unknown[]]
  >([
    ['the first', {}, null, [0, '03-01', '04-01', '03-01', '04-01']],
    ['after the first', {}, {}, [1, '04-01', '05-01', '04-01', '05-01']],
    [
      'quarterly',
      { intervalCount: 3 },
      { endAt: at('06-01T00:00:00') },
      [1, '06-01', '09-01', '06-01', '09-01'],
    ],
    [
      'after an end by other time zone data',
      {},
      { endAt: at('04-02T00:00:00') },
      [1, '04-02', '05-01', '04-02', '05-01'],
    ],
    [
      'from the 31st, on the last day of a shorter month',
      { anchorAt: at('01-31T00:00:00') },
      null,
      [0, '01-31', '02-28', '01-31', '02-28'],
    ],
    [
      'after the 31st, back on that day',
      { anchorAt: at('01-31T00:00:00') },
      { index: 1, startAt: at('02-28T00:00:00'), endAt: at('03-31T00:00:00') },
      [2, '03-31', '04-30', '03-31', '04-30'],
    ],
    [
      'by the calendar, short at first',
      { billingAnchor: 'calendar', anchorAt: at('03-11T00:00:00') },
      null,
      [0, '03-11', '04-01', '03-01', '04-01'],
    ],
  ])('%s', (_, parts, previous, expected) => {
    const before = previous === null ? null : { ...period, ...previous };
    const next = nextPeriod({ ...subscription, ...parts }, before, 'sp_2');
    const day = (instant: Date): string => instant.toISOString().slice(5, 10);
    expect([
      next.index,
      day(next.startAt),
      day(next.endAt),
      day(next.fullStartAt),
      day(next.fullEndAt),
    ]).toEqual(expected);
    expect(next).toMatchObject({ id: 'sp_2', isTrial: false, isClosed: false });
  });
});

describe('the number of periods', () => {
  const monthEnds: Subscription = {
    ...subscription,
    startAt: at('01-31T00:00:00'),
    anchorAt: at('01-31T00:00:00'),
  };
  const daily: Subscription = { ...subscription, interval: 'day' };

  it.each([
    ['none before the start', subscription, '02-28T23:59:59', 12, 0],
    ['the first from its start on', subscription, '03-01T00:00:00', 12, 1],
    ['one more on each boundary', subscription, '05-01T00:00:00', 12, 3],
    ['not the next one before its boundary', subscription, '04-30T23:59:59', 12, 2],
    ['months that end on their last day', monthEnds, '02-28T00:00:00', 12, 2],
    ['every day of two months', daily, '04-30T12:00:00', 100, 61],
    ['the given number at the most', daily, '12-31T00:00:00', 13, 13],
  ])('that have begun counts %s', (_what, counted, instant, most, begun) => {
    expect(periodsBegun(counted, at(instant), most)).toBe(begun);
  });

  it.each([
    ['day', 365],
    ['week', 300],
    ['month', 365],
    ['year', 22],
    ['year', 365],
  ] as const)('that have begun is one in the first %s × %i', (interval, intervalCount) => {
    const long = { ...subscription, interval, intervalCount };
    expect(periodsBegun(long, at('03-02T00:00:00'), 367)).toBe(1);
    expect(periodsOverdue(long, at('04-02T00:00:00'), 13)).toBe(1);
  });

  it('that have begun is limited for a start of centuries ago', () => {
    const anchorAt = new Date('0001-01-01T00:00:00Z');
    expect(periodsBegun({ ...daily, startAt: anchorAt, anchorAt }, END, 367)).toBe(367);
  });

  it('that are overdue counts from the next billing', () => {
    expect(periodsOverdue(subscription, at('03-31T23:59:59'), 12)).toBe(0);
    expect(periodsOverdue(subscription, END, 12)).toBe(1);
    expect(periodsOverdue({ ...subscription, nextBillingAt: null }, END, 12)).toBe(0);
  });
});

describe('the time of a command', () => {
  const CHANGE = at('03-11T09:00:00');

  test.each<[string, Partial<SubscriptionItem>, Date | null, Date]>([
    ['the start of an item', { startAt: CHANGE }, null, CHANGE],
    ['the end of an item', { endAt: CHANGE }, null, CHANGE],
    ['a pause', {}, CHANGE, CHANGE],
    ['the start of the period', {}, null, START],
    ['no planned start', { startAt: END }, null, START],
    ['no planned end', { endAt: END }, null, START],
  ])('is not before %s', (_, parts, pausedAt, expected) => {
    const paused = { ...subscription, pausedAt };
    const snapshot = { subscription: paused, items: [item(parts)] };
    expect(commandTime(snapshot, at('02-01T00:00:00'))).toEqual(expected);
    expect(commandTime(snapshot, at('03-12T00:00:00'))).toEqual(at('03-12T00:00:00'));
    const planned = { ...paused, currentPeriodStartAt: null, currentPeriodEndAt: null };
    expect(commandTime({ ...snapshot, subscription: planned }, START)).toEqual(START);
  });
});

describe('charges in advance', () => {
  const short = { ...period, startAt: at('03-11T00:00:00') };

  test.each<[string, SubscriptionPeriod, Partial<SubscriptionItem>, readonly unknown[]]>([
    ['a full period', period, {}, [['charge', '03-01T00:00', '04-01T00:00', 3_100n]]],
    [
      'a short first period, by the day',
      short,
      { startAt: short.startAt },
      [['charge', '03-11T00:00', '04-01T00:00', 2_100n]],
    ],
    [
      'a short first period of a plan without proration',
      short,
      { startAt: short.startAt, proration: 'none' },
      [['charge', '03-11T00:00', '04-01T00:00', 3_100n]],
    ],
    ['an item that starts later', period, { startAt: at('03-02T00:00:00') }, []],
    ['an item that has ended', period, { startAt: at('02-01T00:00:00'), endAt: START }, []],
    ['a price in arrears', period, { price: price({ timing: 'in_arrears' }) }, []],
  ])('%s', (_, charged, parts, expected) => {
    expect(shown(advanceCharges(subscription, [item(parts)], charged))).toEqual(expected);
  });
});

describe('charges in arrears', () => {
  const arrears = price({ timing: 'in_arrears' });
  const metered = price({ timing: 'in_arrears', usage: { meterId: 'meter_1', isByGroup: false } });
  const toTheEnd = { at: END, end: 'border' } as const;
  const ended = (text: string) => ({ at: at(text), end: 'termination' }) as const;
  const changed = (text: string) => ({ at: at(text), end: 'border' }) as const;

  test.each<
    [string, Partial<SubscriptionItem>, Parameters<typeof arrearsCharges>[3], readonly unknown[]]
  >([
    ['a full period', {}, toTheEnd, [['charge', '03-01T00:00', '04-01T00:00', 3_100n]]],
    [
      'from the 11th on',
      { startAt: at('03-11T09:00:00') },
      toTheEnd,
      [['charge', '03-11T09:00', '04-01T00:00', 2_100n]],
    ],
    [
      'until a change, without its day',
      { endAt: at('03-11T09:00:00') },
      toTheEnd,
      [['charge', '03-01T00:00', '03-11T09:00', 1_000n]],
    ],
    [
      'until the subscription ends, with its day',
      {},
      ended('03-11T09:00:00'),
      [['charge', '03-01T00:00', '03-11T09:00', 1_100n]],
    ],
    [
      'until the period is cut short by a change',
      {},
      changed('03-11T09:00:00'),
      [['charge', '03-01T00:00', '03-11T09:00', 1_000n]],
    ],
    [
      'ended where it began, with its day',
      {},
      ended('03-01T00:00:00'),
      [['charge', '03-01T00:00', '03-01T00:00', 100n]],
    ],
    ['changed where it began', { endAt: START }, toTheEnd, []],
    [
      'without proration, whole when the subscription ends',
      { proration: 'none' },
      ended('03-11T09:00:00'),
      [['charge', '03-01T00:00', '03-11T09:00', 3_100n]],
    ],
    [
      'until a pause, with its day',
      { endAt: at('03-11T09:00:00'), endedBy: 'pause' },
      toTheEnd,
      [['charge', '03-01T00:00', '03-11T09:00', 1_100n]],
    ],
    [
      'paused where it began, with its day',
      { endAt: START, endedBy: 'pause' },
      toTheEnd,
      [['charge', '03-01T00:00', '03-01T00:00', 100n]],
    ],
    [
      'until a pause, by the second',
      { endAt: at('03-11T12:00:00'), endedBy: 'pause', proration: 'second' },
      toTheEnd,
      [['charge', '03-01T00:00', '03-11T12:00', 1_050n]],
    ],
    [
      'usage until a pause, with its day',
      { price: metered, endAt: at('03-11T09:00:00'), endedBy: 'pause' },
      toTheEnd,
      [['usage', '03-01T00:00', '03-11T09:00', 1_100n]],
    ],
    [
      'without proration, by the day until a pause',
      { proration: 'none', endAt: at('03-11T09:00:00'), endedBy: 'pause' },
      toTheEnd,
      [['charge', '03-01T00:00', '03-11T09:00', 1_100n]],
    ],
    [
      'without proration, by the day before a change',
      { proration: 'none', endAt: at('03-11T09:00:00') },
      toTheEnd,
      [['charge', '03-01T00:00', '03-11T09:00', 1_000n]],
    ],
    [
      'without proration, by the day after a pause',
      { proration: 'none', startAt: at('03-11T09:00:00') },
      toTheEnd,
      [['charge', '03-11T09:00', '04-01T00:00', 2_100n]],
    ],
    [
      'without proration, by the day until the period is cut short by a change',
      { proration: 'none' },
      changed('03-11T09:00:00'),
      [['charge', '03-01T00:00', '03-11T09:00', 1_000n]],
    ],
    ['started later', { startAt: at('04-02T00:00:00') }, toTheEnd, []],
    [
      'usage until the subscription ends',
      { price: metered },
      ended('03-11T09:00:00'),
      [['usage', '03-01T00:00', '03-11T09:00', 1_100n]],
    ],
    [
      'usage of no time, with the minimum of its day',
      { price: metered },
      ended('03-01T00:00:00'),
      [['usage', '03-01T00:00', '03-01T00:00', 100n]],
    ],
    [
      'an item that a change ended at the start of the period',
      { startAt: at('02-01T00:00:00'), endAt: START, endedBy: 'second_change' },
      toTheEnd,
      [],
    ],
    ['a price in advance', { price: price() }, toTheEnd, []],
  ])('%s', (_, parts, until, expected) => {
    const items = [item({ price: arrears, ...parts })];
    expect(shown(arrearsCharges(subscription, items, period, until))).toEqual(expected);
  });

  test.each(['isTrial', 'isClosed'] as const)('are none where %s', (flag) => {
    const items = [item({ price: arrears })];
    expect(arrearsCharges(subscription, items, { ...period, [flag]: true }, toTheEnd)).toEqual([]);
  });
});
