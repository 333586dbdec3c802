import { applyCoupons } from '../../../core/discount';
import type { Coupon } from './coupon';
import {
  type CouponRedemption,
  isRunning,
  isUsedUp,
  redemptionOf,
  refusalOf,
  toRedeemedCoupon,
  withApplied,
} from './redemption';

const NOW = new Date('2026-03-01T09:30:00.000Z');
const at = (milliseconds: number): Date => new Date(NOW.getTime() + milliseconds);

const percent: Coupon = {
  id: 'coup_1',
  version: 1,
  code: 'WELCOME20',
  name: null,
  type: 'percent',
  percentOff: '20',
  amountOff: null,
  currency: null,
  duration: 'once',
  durationInMonths: null,
  maxRedemptions: null,
  timesRedeemed: 0,
  redeemBy: null,
  planIds: [],
  isActive: true,
  metadata: {},
  createdAt: NOW,
  updatedAt: NOW,
};
const amount: Coupon = {
  ...percent,
  type: 'amount',
  percentOff: null,
  amountOff: 500n,
  currency: 'USD',
};
const request = {
  code: 'WELCOME20',
  subscriptionId: 'sub_1',
  customerId: 'cus_1',
  planId: 'plan_1',
  currency: 'USD',
  timeZone: 'UTC',
};
const redeemed = (coupon: Coupon, timeZone = 'UTC', now = NOW): CouponRedemption =>
  redemptionOf('red_1', coupon, { ...request, timeZone }, now);

describe('a coupon can be redeemed', () => {
  it.each([
    ['without limits', percent],
    ['up to and including the instant it names', { ...percent, redeemBy: NOW }],
    ['one last time', { ...percent, maxRedemptions: 5, timesRedeemed: 4 }],
    ['on a plan it is for', { ...percent, planIds: ['plan_0', 'plan_1'] }],
    ['in its currency', amount],
  ] as const)('%s', (_, coupon) => {
    expect(refusalOf(coupon, request, NOW)).toBeNull();
  });

  it.each([
    ['inactive', { ...percent, isActive: false }],
    ['expired', { ...percent, redeemBy: at(-1) }],
    ['exhausted', { ...percent, maxRedemptions: 5, timesRedeemed: 5 }],
    ['not_for_plan', { ...percent, planIds: ['plan_0'] }],
    ['currency_mismatch', { ...amount, currency: 'EUR' }],
    ['inactive', { ...percent, isActive: false, redeemBy: at(-1) }],
  ] as const)('but not when it is %s', (reason, coupon) => {
    expect(refusalOf(coupon, request, NOW)).toBe(reason);
  });
});

describe('a redemption lasts', () => {
  it.each([
    ['once', null, 'UTC', '2026-03-01T09:30:00.000Z', null],
    ['forever', null, 'UTC', '2026-03-01T09:30:00.000Z', null],
    ['repeating', 3, 'UTC', '2026-03-01T09:30:00.000Z', '2026-06-01T09:30:00.000Z'],
    ['repeating', 1, 'UTC', '2026-01-31T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
    ['repeating', 12, 'UTC', '2028-02-29T12:00:00.000Z', '2029-02-28T12:00:00.000Z'],
    // 09:30 in Paris stays 09:30, though the offset changes on 29 March.
    ['repeating', 1, 'Europe/Paris', '2026-03-01T08:30:00.000Z', '2026-04-01T07:30:00.000Z'],
    // In Auckland it is the first of the month already.
    ['repeating', 1, 'Pacific/Auckland', '2026-05-31T12:30:00.000Z', '2026-06-30T12:30:00.000Z'],
  ] as const)('%s %p months, in %s, from %s: until %p', (duration, months, zone, from, end) => {
    const coupon = { ...percent, duration, durationInMonths: months };
    const { endsAt } = redeemed(coupon, zone, new Date(from));
    expect(endsAt?.toISOString() ?? null).toBe(end);
  });

  it.each([
    ['from its instant on', 0, {}, true],
    ['not before', -1, {}, false],
    ['up to its end', 9, { endsAt: at(10) }, true],
    ['not at its end', 10, { endsAt: at(10) }, false],
    ['not once it was ended', 5, { endedAt: at(5) }, false],
    ['until it was ended', 4, { endedAt: at(5) }, true],
  ] as const)('%s', (_, milliseconds, change, running) => {
    expect(isRunning({ ...redeemed(percent), ...change }, at(milliseconds))).toBe(running);
  });
});

describe('an invoice that took something off', () => {
  const later = at(1_000);
  const repeating: Coupon = { ...percent, duration: 'repeating', durationInMonths: 3 };
  const forever: Coupon = { ...amount, duration: 'forever' };

  it.each([
    ['uses up a percentage that lasts once', percent, 20n, 0n, [20n, null, later]],
    ['uses up an amount that lasts once', amount, 500n, 0n, [500n, 0n, later]],
    ['leaves the rest of an amount that lasts once', amount, 200n, 300n, [200n, 300n, null]],
    ['counts what a repeating one took off', repeating, 20n, 0n, [20n, null, null]],
    ['counts what one for ever took off', forever, 500n, 0n, [500n, null, null]],
    ['of nothing uses up nothing of a percentage', percent, 0n, 0n, [0n, null, null]],
    ['of nothing uses up nothing of an amount', amount, 0n, 500n, [0n, 500n, null]],
  ] as const)('%s', (_, coupon, amountMinor, unusedMinor, [applied, remaining, ended]) => {
    const redemption = redeemed(coupon);
    const after = withApplied({ redemption, coupon }, { amountMinor, unusedMinor }, later);
    expect(after).toEqual({
      ...redemption,
      appliedAmount: applied,
      remainingAmount: remaining,
      endedAt: ended,
    });
    expect(isUsedUp({ redemption: after, coupon })).toBe(ended !== null);
    expect(isUsedUp({ redemption: { ...after, endedAt: later }, coupon })).toBe(ended !== null);
  });

  it('is followed by one that takes off what was left, and then by none', () => {
    const coupon = amount;
    let redemption = redeemed(coupon);
    const taken = [300n, 100n, 700n].map((amountMinor) => {
      if (!isRunning(redemption, later)) return null;
      const discounts = applyCoupons(
        [{ lineId: 'il_1', amountMinor }],
        [toRedeemedCoupon({ redemption, coupon })],
      );
      const [applied] = discounts.coupons;
      if (applied !== undefined) redemption = withApplied({ redemption, coupon }, applied, later);
      return discounts.totalMinor;
    });
    expect(taken).toEqual([300n, 100n, 100n]);
    expect(redemption).toMatchObject({ appliedAmount: 500n, remainingAmount: 0n, endedAt: later });
    expect(isRunning(redemption, later)).toBe(false);
  });
});

describe('the rules of discounts are told', () => {
  const shared = {
    redemptionId: 'red_1',
    redeemedAt: NOW,
    lineIds: 'all',
  };
  it.each([
    [percent, {}, 'once', { type: 'percent', percentOff: '20' }],
    [amount, {}, 'once', { type: 'amount', amountOffMinor: 500n }],
    [amount, { remainingAmount: 120n }, 'once', { type: 'amount', amountOffMinor: 120n }],
    [
      { ...amount, duration: 'forever' },
      { appliedAmount: 500n },
      'forever',
      { type: 'amount', amountOffMinor: 500n },
    ],
  ] as const)('of %j with %j', (coupon, change, duration, off) => {
    const redemption = { ...redeemed(coupon), ...change };
    expect(toRedeemedCoupon({ redemption, coupon })).toEqual({ ...shared, duration, off });
  });
});
