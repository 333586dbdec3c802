import { decideInvoice } from './decide-invoice';
import { decideLines } from './decide-lines';
import type { BilledLine } from './held-lines';
import type { LineDraft } from './line-draft';
import type { ChargeLineRequest, LineItemRequest } from './line-item-request';

const START = new Date('2026-03-01T00:00:00Z');
const CHANGE = new Date('2026-03-11T09:00:00Z');
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
    coupons: [],
    billingPeriod: null,
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
    coupons: [],
    billingPeriod: null,
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
