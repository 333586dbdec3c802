import fc from 'fast-check';
import { InvariantError } from '../invariant';
import { applyCoupons, type CouponOff, type RedeemedCoupon } from './index';

const percent = (percentOff: string): CouponOff => ({ type: 'percent', percentOff });
const amount = (amountOffMinor: bigint): CouponOff => ({ type: 'amount', amountOffMinor });
const coupon = (off: CouponOff, change: Partial<RedeemedCoupon> = {}): RedeemedCoupon => ({
  redemptionId: 'red',
  redeemedAt: new Date('2026-01-01T00:00:00Z'),
  duration: 'forever',
  lineIds: 'all',
  off,
  ...change,
});
const lines = (...amounts: bigint[]) =>
  amounts.map((amountMinor, index) => ({ lineId: `il_${index}`, amountMinor }));
const on = (day: number) => new Date(Date.UTC(2026, 0, day));

describe('a discount is spread over the positive lines by largest remainder', () => {
  test.each<[string, bigint[], RedeemedCoupon[], bigint[]]>([
    ['333, 333 and 334 less 100', [333n, 333n, 334n], [coupon(amount(100n))], [33n, 33n, 34n]],
    ['5 and 15 less 12', [500n, 1500n], [coupon(amount(1200n))], [300n, 900n]],
    ['a credit is left alone', [1000n, -400n], [coupon(percent('50'))], [500n, 0n]],
    ['never below zero', [500n, 250n], [coupon(amount(1000n))], [500n, 250n]],
    [
      'a percentage is rounded once over its lines',
      [5n, 5n, 5n],
      [coupon(percent('10'))],
      [1n, 1n, 0n],
    ],
    ['a third as a decimal', [10000n], [coupon(percent('33.33'))], [3333n]],
    ['all of it', [999n, 1n], [coupon(percent('100'))], [999n, 1n]],
    [
      'only on its lines',
      [1000n, 1000n],
      [coupon(amount(500n), { lineIds: new Set(['il_1']) })],
      [0n, 500n],
    ],
    ['on none', [1000n], [coupon(amount(500n), { lineIds: new Set() })], [0n]],
    ['no lines', [], [coupon(percent('10'))], []],
    ['no coupons', [1000n], [], [0n]],
  ])('%s', (_, amounts, coupons, expected) => {
    const discounts = applyCoupons(lines(...amounts), coupons);
    expect(discounts.lineDiscountsMinor).toEqual(expected);
    expect(discounts.totalMinor).toBe(expected.reduce((all, one) => all + one, 0n));
  });
});

describe('percentages first, then amounts, each by redemption time, each on what is left', () => {
  const given: [RedeemedCoupon, bigint][] = [
    [coupon(amount(3000n), { redemptionId: 'early amount', redeemedAt: on(1) }), 3000n],
    [coupon(percent('10'), { redemptionId: 'late percent', redeemedAt: on(4) }), 750n],
    [coupon(percent('25'), { redemptionId: 'early percent', redeemedAt: on(2) }), 2500n],
    [coupon(amount(9000n), { redemptionId: 'late amount', redeemedAt: on(3) }), 3750n],
  ];

  test('whatever the order they are handed in', () => {
    const discounts = applyCoupons(
      lines(10000n),
      given.map(([one]) => one),
    );
    expect(
      discounts.coupons.map(({ redemptionId, amountMinor }) => [redemptionId, amountMinor]),
    ).toEqual([
      ['early percent', 2500n],
      ['late percent', 750n],
      ['early amount', 3000n],
      ['late amount', 3750n],
    ]);
  });

  test('two redeemed at one instant keep the order given', () => {
    const both = [amount(700n), amount(800n)].map((off) => coupon(off));
    const applied = applyCoupons(lines(1000n), both).coupons;
    expect(applied.map(({ amountMinor }) => amountMinor)).toEqual([700n, 300n]);
  });
});

describe('the unused rest of an amount is kept only when it lasts once', () => {
  test.each([
    ['once' as const, 1500n, 1000n, 500n],
    ['once' as const, 1000n, 1000n, 0n],
    ['repeating' as const, 1500n, 1000n, 0n],
    ['forever' as const, 1500n, 1000n, 0n],
    ['once' as const, 1500n, 0n, 1500n],
  ])('%s: %d off %d leaves %d', (duration, off, lineMinor, unusedMinor) => {
    const [applied] = applyCoupons(lines(lineMinor), [coupon(amount(off), { duration })]).coupons;
    expect(applied?.unusedMinor).toBe(unusedMinor);
  });
});

describe('a percentage has no rest, and a coupon of nothing takes nothing', () => {
  test.each([percent('50'), percent('0'), amount(0n)])('%o', (off) => {
    const [applied] = applyCoupons(lines(1000n), [coupon(off, { duration: 'once' })]).coupons;
    expect(applied?.unusedMinor).toBe(0n);
    expect(applied?.amountMinor).toBe(
      off.type === 'percent' && off.percentOff === '50' ? 500n : 0n,
    );
  });
});

describe('what is not a coupon is refused', () => {
  test.each([percent('100.01'), percent('-1'), percent('ten'), amount(-1n)])('%o', (off) => {
    expect(() => applyCoupons(lines(1000n), [coupon(off)])).toThrow(InvariantError);
  });
});

describe('for any lines and coupons', () => {
  const offs = fc.oneof(
    fc
      .integer({ min: 0, max: 10000 })
      .map((basisPoints) => percent((basisPoints / 100).toFixed(2))),
    fc.bigInt({ min: 0n, max: 10n ** 6n }).map(amount),
  );
  const coupons = fc.array(
    fc
      .record({ off: offs, day: fc.integer({ min: 1, max: 9 }), line: fc.option(fc.nat(5)) })
      .map(({ off, day, line }) =>
        coupon(off, {
          redeemedAt: on(day),
          duration: 'once',
          lineIds: line === null ? 'all' : new Set([`il_${line}`]),
        }),
      ),
    { maxLength: 5 },
  );

  test('shares add up, no line falls below zero, nothing of an amount is lost', () => {
    const amounts = fc.array(fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }), { maxLength: 8 });
    fc.assert(
      fc.property(amounts, coupons, (given, redeemed) => {
        const discounts = applyCoupons(lines(...given), redeemed);
        discounts.lineDiscountsMinor.forEach((discount, index) => {
          const lineMinor = given[index] ?? 0n;
          expect(discount >= 0n && (discount === 0n || discount <= lineMinor)).toBe(true);
        });
        const offered = redeemed.map(({ off }) =>
          off.type === 'amount' ? off.amountOffMinor : 0n,
        );
        const amounts = discounts.coupons.slice(
          redeemed.filter(({ off }) => off.type === 'percent').length,
        );
        const accounted = amounts.reduce((all, one) => all + one.amountMinor + one.unusedMinor, 0n);
        expect(accounted).toBe(offered.reduce((all, one) => all + one, 0n));
      }),
    );
  });
});
