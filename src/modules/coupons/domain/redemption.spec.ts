import type { Coupon } from './coupon';
import {
  type CouponRedemption,
  discountsPeriodFrom,
  isUsedUp,
  redeemedAfter,
  redemptionOf,
  refusalOf,
  removed,
  withApplied,
  withoutInvoice,
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
};
const redeemed = (coupon: Coupon): CouponRedemption => redemptionOf('red_1', coupon, request, NOW);
const NOTHING = {
  redemptionId: 'red_1',
  amountMinor: 0n,
  returnedMinor: 0n,
  unusableMinor: 0n,
  unusedMinor: 0n,
  endsAt: null,
};

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

describe('a redemption', () => {
  it.each([
    [0, [], 0],
    [0, [-2], 0],
    [0, [0], 1],
    [0, [70_000, 5], 70_001],
  ])('at %d ms after those at %j ms is dated %d ms', (now, before, expected) => {
    const earlier = before.map((ms) => ({ redeemedAt: at(ms) }));
    expect(redeemedAfter(earlier, at(now))).toEqual(at(expected));
  });

  it.each([
    [5, 5],
    [-5, 0],
  ])('that is removed or used up %d ms after it ends at %d ms', (ms, expected) => {
    const removedAt = at(expected);
    const redemption = redeemed(amount);
    expect(removed(redemption, at(ms))).toMatchObject({ endedAt: removedAt, removedAt });
    const used = { ...NOTHING, amountMinor: 500n };
    expect(withApplied({ redemption, coupon: amount }, used, at(ms)).endedAt).toEqual(removedAt);
  });
});

describe('a redemption counts', () => {
  it.each([
    ['in any period until something was taken off', 0, null, true],
    ['in a period that starts before the end of its months', 9, at(10), true],
    ['in no period that starts there', 10, at(10), false],
  ] as const)('%s', (_, milliseconds, endsAt, counts) => {
    expect(discountsPeriodFrom({ ...redeemed(percent), endsAt }, at(milliseconds))).toBe(counts);
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
    const after = withApplied(
      { redemption, coupon },
      { ...NOTHING, amountMinor, unusedMinor },
      later,
    );
    expect(after).toEqual({
      ...redemption,
      appliedAmount: applied,
      remainingAmount: remaining,
      endedAt: ended,
    });
    expect(isUsedUp({ redemption: after, coupon })).toBe(ended !== null);
    expect(isUsedUp({ redemption: { ...after, endedAt: later }, coupon })).toBe(ended !== null);
  });

  it('fixes the end of the months once', () => {
    const terms = { redemption: redeemed(repeating), coupon: repeating };
    const first = withApplied(terms, { ...NOTHING, amountMinor: 20n, endsAt: at(90) }, later);
    const second = { redemption: first, coupon: repeating };
    expect(first.endsAt).toEqual(at(90));
    expect(
      withApplied(second, { ...NOTHING, amountMinor: 20n, endsAt: at(120) }, later).endsAt,
    ).toEqual(at(90));
  });

  it('whose credits return something gives it to a coupon that was used up', () => {
    const used = withApplied(
      { redemption: redeemed(amount), coupon: amount },
      { ...NOTHING, amountMinor: 500n },
      later,
    );
    const returning = { ...NOTHING, amountMinor: 100n, returnedMinor: 300n, unusedMinor: 200n };
    const after = withApplied({ redemption: used, coupon: amount }, returning, at(2_000));
    expect(after).toMatchObject({ appliedAmount: 300n, remainingAmount: 200n, endedAt: null });
    const voided = withoutInvoice(
      { redemption: after, coupon: amount },
      { redemptionId: 'red_1', amountMinor: 100n, returnedMinor: 300n },
      at(3_000),
    );
    expect(voided).toMatchObject({ appliedAmount: 500n, remainingAmount: 0n, endedAt: at(3_000) });
  });

  it('whose credits return a percentage gives as much of it back', () => {
    const used = withApplied(
      { redemption: redeemed(percent), coupon: percent },
      { ...NOTHING, amountMinor: 20n },
      later,
    );
    const returning = { ...NOTHING, amountMinor: 5n, returnedMinor: 20n, unusedMinor: 15n };
    const after = withApplied({ redemption: used, coupon: percent }, returning, later);
    expect(after).toMatchObject({ appliedAmount: 5n, remainingAmount: 15n, endedAt: null });
    expect(isUsedUp({ redemption: after, coupon: percent })).toBe(false);
    const others = { appliedMinor: 20n, isUsed: true };
    const noted = { ...NOTHING, amountMinor: 5n, returnedMinor: 20n, limitMinor: 20n, others };
    const voided = withoutInvoice({ redemption: after, coupon: percent }, noted, later);
    expect(voided).toMatchObject({ appliedAmount: 20n, remainingAmount: 0n, endedAt: later });
  });

  const half = { ...percent, duration: 'forever' } as const;
  it.each([
    ['a percentage of every invoice, in its period', half, 3_000n, 750n, 0n, [2_250n, null]],
    ['a percentage of every invoice, in another period', half, 3_000n, 0n, 750n, [2_250n, null]],
    ['an amount of another period', forever, 3_000n, 0n, 516n, [2_484n, null]],
    ['a percentage that lasts once, in another period', percent, 1_550n, 0n, 800n, [750n, 0n]],
    ['all of a percentage that lasts once', percent, 1_550n, 0n, 1_550n, [0n, 0n]],
    ['an amount that lasts once and was removed', amount, 500n, 0n, 250n, [250n, 0n]],
  ] as const)(
    'whose credits return %s lowers what was taken off',
    (_, coupon, amountMinor, returnedMinor, unusableMinor, [applied, left]) => {
      const taken = { ...NOTHING, amountMinor };
      const redemption = withApplied({ redemption: redeemed(coupon), coupon }, taken, later);
      const returning = { ...NOTHING, returnedMinor, unusableMinor };
      const after = withApplied({ redemption, coupon }, returning, at(2_000));
      expect(after).toEqual({ ...redemption, appliedAmount: applied, remainingAmount: left });
      const others = { appliedMinor: amountMinor, isUsed: true };
      const voided = withoutInvoice({ redemption: after, coupon }, { ...returning, others }, later);
      expect(voided).toEqual({ ...redemption, remainingAmount: left });
    },
  );

  it('that an earlier void bill left unused stays used by a later invoice when a correction of the bill is void', () => {
    const others = { appliedMinor: 20n, isUsed: true };
    const redemption = withApplied(
      { redemption: redeemed(percent), coupon: percent },
      { ...NOTHING, amountMinor: 20n },
      later,
    );
    const noted = { ...NOTHING, amountMinor: 30n, correctedMinor: 30n, others };
    expect(withoutInvoice({ redemption, coupon: percent }, noted, at(3_000))).toEqual(redemption);
  });

  it.each([
    ['a percentage', percent, 20n, null],
    ['an amount', amount, 500n, 500n],
    ['a part of an amount', amount, 300n, 500n],
    ['a percentage of every invoice', { ...percent, duration: 'forever' }, 20n, null],
  ] as const)(
    'that took off %s can do so again once the invoice is void',
    (_, coupon, off, left) => {
      const unusedMinor = coupon.amountOff === null ? 0n : coupon.amountOff - off;
      const noted = { ...NOTHING, amountMinor: off, unusedMinor };
      const redemption = withApplied({ redemption: redeemed(coupon), coupon }, noted, later);
      expect(withoutInvoice({ redemption, coupon }, noted, later)).toMatchObject({
        appliedAmount: 0n,
        remainingAmount: left,
        endedAt: null,
      });
    },
  );
});
