import { type CouponContext, couponsOf } from './decide-coupons';
import { decideInvoice } from './decide-invoice';
import { decideLines } from './decide-lines';
import { type BilledLine, returnedBy } from './held-lines';
import type { LineDraft } from './line-draft';
import type { ChargeLineRequest, LineItemRequest } from './line-item-request';

const START = new Date('2026-03-01T00:00:00Z');
const CHANGE = new Date('2026-03-11T09:00:00Z');
const PERIOD = { startAt: START, endAt: new Date('2026-04-01T00:00:00Z') };
const LATER = new Date('2026-03-21T09:00:00Z');
const END = new Date('2026-04-01T00:00:00Z');

const charge = (startAt: Date, unit: 'day' | 'second', days: bigint): ChargeLineRequest => ({
  kind: 'charge',
  isProration: false,
  itemId: 'si_1',
  price: {
    priceId: 'price_1',
    name: 'Base',
    rating: { model: 'flat', amountMinor: 3_100n },
    minimumMinor: null,
    maximumMinor: null,
  },
  quantity: '1',
  period: { startAt, endAt: END },
  fullPeriod: { startAt: START, endAt: END },
  proration:
    days === 31n
      ? null
      : unit === 'day'
        ? { numerator: days, denominator: 31n, unit }
        : { numerator: days * 86_400n, denominator: 31n * 86_400n, unit },
  prorationUnit: unit,
  timeZone: 'UTC',
  isInAdvance: true,
});

/** Returns the lines that bill a request. */
function billed(request: ChargeLineRequest): readonly BilledLine[] {
  let made = 0;
  const ids = { invoiceId: 'inv_1', nextLineId: () => `il_${(made += 1)}` };
  const context = {
    billed: [],
    creditable: new Map<string, bigint>(),
    usage: [],
    coupons: [],
    billingPeriod: null,
    taxRates: [],
    taxTreatment: 'none',
    testClockId: null,
    creditGrants: [],
  } as const;
  const invoice = {
    reason: 'renewal',
    customerId: 'cus_1',
    subscriptionId: 'sub_1',
    renewsAt: START,
    currency: 'USD',
    period: null,
    billingPeriod: null,
    lines: [request],
    collection: 'automatic',
    daysUntilDue: 0,
    metadata: {},
  } as const;
  const { lines } = decideInvoice(invoice, context, ids, START);
  return lines.map((line) => ({ ...line, taxRates: [], billedFrom: START }));
}

function creditsFor(
  request: ChargeLineRequest,
  unusedFrom: Date,
  end: 'border' | 'termination',
): readonly LineDraft[] {
  const credit: LineItemRequest = { kind: 'credit', itemId: 'si_1', unusedFrom, end };
  const context = {
    billed: billed(request),
    creditable: new Map(),
    usage: [],
  };
  return decideLines([credit], context, () => 'il_credit').lines;
}

it('lines are sorted: in advance, in arrears, one-off items, credits', () => {
  const inAdvance = charge(START, 'day', 31n);
  const inArrears = { ...inAdvance, itemId: 'si_2', isInAdvance: false };
  const next = { ...inAdvance, itemId: 'si_3' };
  const context = {
    billed: billed(inAdvance),
    creditable: new Map(),
    usage: [],
  };
  let made = 0;
  const { lines } = decideLines(
    [
      { kind: 'credit', itemId: 'si_1', unusedFrom: CHANGE, end: 'border' },
      { kind: 'fixed', description: 'Setup', amountMinor: 5n },
      inArrears,
      inAdvance,
      next,
    ],
    context,
    () => `il_${(made += 1)}`,
  );
  expect(lines.map(({ kind, itemId }) => [kind, itemId])).toEqual([
    ['recurring', 'si_1'],
    ['recurring', 'si_3'],
    ['recurring', 'si_2'],
    ['one_off', null],
    ['credit', 'si_1'],
  ]);
});

describe('a credit for the unused part of 31 days at 31.00', () => {
  it.each([
    ['of a change leaves its day to the new price', START, CHANGE, 'border', 'day', -2_100n],
    ['of an end keeps its day', START, CHANGE, 'termination', 'day', -2_000n],
    ['of an end where the line begins keeps that day', START, START, 'termination', 'day', -3_000n],
    ['of a change where the line begins is all of it', START, START, 'border', 'day', -3_100n],
    ['of an end where a part begins keeps that day', CHANGE, CHANGE, 'termination', 'day', -2_000n],
    ['of an end before the line begins is all of it', LATER, CHANGE, 'termination', 'day', -1_100n],
    ['of an end by the second is all that is left', START, START, 'termination', 'second', -3_100n],
  ] as const)('%s', (_, from, at, end, unit, expected) => {
    const days = from === START ? 31n : from === CHANGE ? 21n : 11n;
    const credits = creditsFor(charge(from, unit, days), at, end);
    expect(credits.reduce((total, { amount }) => total + amount, 0n)).toBe(expected);
  });

  it.each([
    ['of a whole period', false, 'Base'],
    ['of the rest of a period', true, 'Base (rest of the period)'],
  ])('%s is described by the name of its price', (_, isProration, description) => {
    const request = { ...charge(START, 'day', 31n), isProration };
    expect(billed(request)).toMatchObject([{ description }]);
    expect(creditsFor(request, CHANGE, 'border')).toMatchObject([
      { description: 'Unused time on Base' },
    ]);
  });
});

const OFF = {
  redemptionId: 'red_1',
  redeemedAt: START,
  months: null,
  endsAt: null,
  priceIds: null,
};
const CURRENT: CouponContext = {
  ...OFF,
  duration: 'forever',
  percentOff: null,
  amountOffMinor: null,
  remainingMinor: null,
  takenMinor: 0n,
  isUsedUp: false,
};
const NEXT = { startAt: CHANGE, endAt: END };

/** A line less the discounts of these amounts, with the redemptions `red_1`, `red_2` and so on. */
function discounted(amount: bigint, discounts: readonly bigint[]): readonly BilledLine[] {
  const discountShares = discounts.map((amountMinor, index) => ({
    redemptionId: `red_${index + 1}`,
    amountMinor,
  }));
  const discount = discounts.reduce((total, one) => total + one, 0n);
  return billed(charge(START, 'day', 31n)).map((line) => ({
    ...line,
    ...{ amount, net: amount, discount, discountShares },
  }));
}

function credited(lines: readonly BilledLine[]): readonly LineDraft[] {
  const credit: LineItemRequest = {
    kind: 'credit',
    itemId: 'si_1',
    unusedFrom: CHANGE,
    end: 'border',
  };
  return decideLines(
    [credit],
    { billed: lines, creditable: new Map(), usage: [] },
    () => 'il_credit',
  ).lines;
}

describe('a credit of 21 of 31 days', () => {
  it.each([
    ['returns its share of a discount', 3_100n, [1_550n], -1_050n, [1_050n]],
    ['returns the share of two together: 315 x 21/31 = 213.4', 315n, [39n, 276n], 0n, [26n, 187n]],
  ] as const)('%s', (_, amount, discounts, expected, returned) => {
    const [line, ...others] = credited(discounted(amount, discounts));
    expect(others).toEqual([]);
    expect(line?.amount).toBe(expected);
    expect(line === undefined ? [] : returnedBy(line).map((one) => one.amountMinor)).toEqual(
      returned,
    );
  });

  it.each([
    ['a percentage of its period', { percentOff: '50' }, PERIOD, 1_050n, null],
    ['a percentage of another period', { percentOff: '50' }, NEXT, 0n, null],
    [
      'an amount of its period',
      { amountOffMinor: 1_550n, takenMinor: 1_550n },
      PERIOD,
      1_050n,
      1_050n,
    ],
    ['an amount of another period', { amountOffMinor: 1_550n }, NEXT, 0n, 1_550n],
  ] as const)('gives %s', (_, terms, billingPeriod, returnedMinor, amountOffMinor) => {
    const context = { coupons: [{ ...CURRENT, ...terms }], billingPeriod };
    const lines = credited(discounted(3_100n, [1_550n]));
    expect(couponsOf(context, lines, 'UTC', new Set(), [])).toMatchObject([
      { returnedMinor, amountOffMinor, mostMinor: null },
    ]);
  });
});
