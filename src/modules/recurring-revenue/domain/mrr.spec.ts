import { mrrOf, type RecurringCoupon, type RecurringItem } from './mrr';

const START = new Date('2026-03-01T00:00:00.000Z');

const monthly = { interval: 'month', intervalCount: 1 } as const;

let items = 0;
function item(
  price: Partial<RecurringItem['price']> & Pick<RecurringItem['price'], 'rating'>,
  fields: Partial<RecurringItem> = {},
): RecurringItem {
  items += 1;
  return {
    id: `si_${items}`,
    price: { priceId: 'price_1', minimumMinor: null, maximumMinor: null, ...price },
    quantity: '1',
    ...fields,
  };
}

const flat = (amountMinor: bigint, fields: Partial<RecurringItem> = {}) =>
  item({ rating: { model: 'flat', amountMinor } }, fields);

function coupon(
  fields: Partial<RecurringCoupon['coupon']>,
  priceIds: RecurringCoupon['priceIds'] = null,
): RecurringCoupon {
  const terms = { percentOff: null, amountOff: null, duration: 'forever' } as const;
  const id = `red_${fields.percentOff ?? ''}${fields.amountOff ?? ''}`;
  return { coupon: { ...terms, ...fields }, redemption: { id, redeemedAt: START }, priceIds };
}

describe('the recurring revenue per month of 100.00 for a billing period', () => {
  it.each([
    ['a month', 'month', 1, 10_000n],
    ['a quarter', 'month', 3, 3_333n],
    ['a year', 'year', 1, 833n],
    ['two years', 'year', 2, 417n],
    // 100.00 x 365 / 84 = 434.5238…
    ['a week', 'week', 1, 43_452n],
    ['two weeks', 'week', 2, 21_726n],
    // 100.00 x 365 / 12 = 3,041.666…
    ['a day', 'day', 1, 304_167n],
    ['30 days', 'day', 30, 10_139n],
  ] as const)('of %s', (_, interval, intervalCount, expected) => {
    const terms = { interval, intervalCount, items: [flat(10_000n)], coupons: [] };
    expect(mrrOf(terms)).toBe(expected);
  });

  it('is rounded half away from zero, once for all prices', () => {
    const of = (...amounts: readonly bigint[]) =>
      mrrOf({
        ...monthly,
        interval: 'year',
        items: amounts.map((amount) => flat(amount)),
        coupons: [],
      });
    expect([of(6n), of(5n), of(3n, 3n), of(2n, 3n)]).toEqual([1n, 0n, 1n, 0n]);
  });
});

describe('recurring revenue', () => {
  const tiers = [
    { upTo: '10', unitAmount: '100', flatAmountMinor: 500n },
    { upTo: null, unitAmount: '50', flatAmountMinor: 0n },
  ];
  const tiered = { tiers, chargeFlatAtZero: true };

  it.each<[string, RecurringItem, bigint]>([
    [
      'a quantity of units',
      item({ rating: { model: 'per_unit', unitAmount: '12.5' } }, { quantity: '3' }),
      38n,
    ],
    [
      'graduated tiers',
      item({ rating: { model: 'graduated', ...tiered } }, { quantity: '12' }),
      1_600n,
    ],
    ['volume tiers', item({ rating: { model: 'volume', ...tiered } }, { quantity: '12' }), 600n],
    [
      'packages',
      item(
        { rating: { model: 'package', unitAmount: '900', packageSize: '5', freeUnits: '0' } },
        { quantity: '11' },
      ),
      2_700n,
    ],
    ['a minimum', item({ rating: { model: 'flat', amountMinor: 5n }, minimumMinor: 80n }), 80n],
    ['a maximum', item({ rating: { model: 'flat', amountMinor: 500n }, maximumMinor: 80n }), 80n],
  ])('counts %s', (_, one, expected) => {
    expect(mrrOf({ ...monthly, items: [one], coupons: [] })).toBe(expected);
  });

  it.each<[string, readonly RecurringCoupon[], bigint]>([
    ['a lasting percentage', [coupon({ percentOff: '20' })], 12_000n],
    ['a lasting amount', [coupon({ amountOff: 1_000n })], 14_000n],
    [
      'percentages before amounts',
      [coupon({ amountOff: 1_000n }), coupon({ percentOff: '20' })],
      11_000n,
    ],
    ['no more than there is', [coupon({ amountOff: 20_000n })], 0n],
    ['nothing for one invoice', [coupon({ percentOff: '20', duration: 'once' })], 15_000n],
    ['some prices', [coupon({ percentOff: '20' }, new Set(['price_1']))], 13_000n],
    ['no prices', [coupon({ percentOff: '20' }, new Set(['price_3']))], 15_000n],
    ['some months', [coupon({ percentOff: '20', duration: 'repeating' })], 12_000n],
  ])('of 150.00 less a coupon counts %s', (_, coupons, expected) => {
    const sold = [
      flat(10_000n),
      item({ rating: { model: 'flat', amountMinor: 5_000n }, priceId: 'price_2' }),
    ];
    expect(mrrOf({ ...monthly, items: sold, coupons })).toBe(expected);
  });
});
