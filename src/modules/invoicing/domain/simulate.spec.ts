import { rational } from '../../../core/decimal';
import type { Price } from '../../../core/rating';
import type { InvoiceLine } from './invoice';
import { simulateItem, type SimulatedPrice } from './simulate';
import type { LineTrace } from './trace';
import type { UsageTrace } from './usage';

const MARCH = { startAt: new Date('2026-03-01Z'), endAt: new Date('2026-04-01Z') };
const HALF = { numerator: 15n, denominator: 30n, unit: 'day' } as const;

const line = (id: string, trace: LineTrace, parts: Partial<InvoiceLine> = {}): InvoiceLine => ({
  id,
  invoiceId: 'in_1',
  position: 0,
  kind: 'recurring',
  description: 'Seats',
  quantity: null,
  unitAmount: null,
  amount: 0n,
  discount: 0n,
  net: 0n,
  tax: 0n,
  priceId: 'price_1',
  itemId: 'si_1',
  period: MARCH,
  fullPeriod: MARCH,
  proration: null,
  prorationUnit: 'day',
  timeZone: 'UTC',
  isInAdvance: true,
  isReleased: false,
  creditsLineId: null,
  credited: 0n,
  creditedNet: 0n,
  creditedTaxShares: [],
  taxRateIds: [],
  taxShares: [],
  discountShares: [],
  trace,
  ...parts,
});

const perUnit = (unitAmount: string): Price => ({ model: 'per_unit', unitAmount });
const priceOf = (rating: Price, parts: Partial<SimulatedPrice> = {}): SimulatedPrice => ({
  isByGroup: false,
  rating,
  minimumMinor: null,
  maximumMinor: null,
  ...parts,
});

/** Trace of three seats at 10.00 each. */
const rated = (proration: typeof HALF | null = null): LineTrace => ({
  kind: 'rated',
  price: perUnit('1000'),
  quantity: '3',
  steps: [],
  proration,
});

const usage = (corrects: UsageTrace['corrects'] = null): UsageTrace => ({
  ...({} as UsageTrace),
  kind: 'usage',
  price: perUnit('1'),
  limits: { minimumMinor: null, maximumMinor: null, proration: null },
  corrects,
});

/** Three seats, and a credit for half of the period that refunds limit to 5.00. */
const REFUNDED_SEATS: readonly InvoiceLine[] = [
  line('il_1', rated(), { amount: 3_000n }),
  line(
    'il_2',
    {
      kind: 'credit',
      fullAmount: '3000',
      billedProration: null,
      billedMinor: 3_000n,
      discountMinor: 0n,
      creditedMinor: 0n,
      unused: HALF,
      mostMinor: 500n,
    },
    { kind: 'credit', amount: -500n, creditsLineId: 'il_1' },
  ),
];

/** A seat at a price of 333.5 minor units, and a credit for 15 of its 31 days. */
function creditedSeat(fullAmount: string): readonly InvoiceLine[] {
  const price = perUnit('333.5');
  const seat = { kind: 'rated', price, quantity: '1', steps: [], proration: null } as const;
  const credit = {
    kind: 'credit',
    fullAmount,
    billedProration: null,
    billedMinor: 334n,
    discountMinor: 0n,
    creditedMinor: 0n,
    unused: { numerator: 15n, denominator: 31n, unit: 'day' },
    held: {
      listedMinor: 334n,
      heldMinor: 334n,
      taxes: [],
      hasOneSetOfRates: true,
      discounts: [],
    },
  } as const;
  const amount = fullAmount === '334' ? -162n : -161n;
  return [
    line('il_1', seat, { amount: 334n }),
    line('il_2', credit, { kind: 'credit', amount, creditsLineId: 'il_1' }),
  ];
}

const calls = (quantity: bigint) => () => [
  { group: null, quantity: rational(quantity), events: quantity, charged: null },
];

/** Bill of a period without usage, whose only line is the minimum. */
const ONLY_MINIMUM: readonly InvoiceLine[] = [
  line('il_1', {
    kind: 'true_up',
    billedMinor: 0n,
    minimumMinor: 1_000n,
    maximumMinor: null,
    proration: null,
  }),
];
const FEE: Price = {
  model: 'volume',
  chargeFlatAtZero: true,
  tiers: [{ upTo: null, unitAmount: '10', flatAmountMinor: 699n }],
};

describe('the lines of an item at another price', () => {
  it.each<[string, readonly InvoiceLine[], SimulatedPrice, bigint]>([
    ['the same price', [line('il_1', rated())], priceOf(perUnit('1000')), 3_000n],
    ['a higher one', [line('il_1', rated())], priceOf(perUnit('1250.5')), 3_752n],
    ['half of a period', [line('il_1', rated(HALF))], priceOf(perUnit('1250')), 1_875n],
    [
      'a minimum, due as a true-up',
      [line('il_1', rated())],
      priceOf(perUnit('100'), { minimumMinor: 1_000n }),
      1_000n,
    ],
    [
      'the minimum of half a period',
      [line('il_1', rated(HALF))],
      priceOf(perUnit('100'), { minimumMinor: 1_000n }),
      500n,
    ],
    [
      'a maximum',
      [line('il_1', rated())],
      priceOf(perUnit('1000'), { maximumMinor: 2_500n }),
      2_500n,
    ],
    [
      'a credit for the unused half',
      [
        line('il_1', rated(), { amount: 3_000n }),
        line(
          'il_2',
          {
            kind: 'credit',
            fullAmount: '3000',
            billedProration: null,
            billedMinor: 3_000n,
            discountMinor: 0n,
            creditedMinor: 0n,
            unused: HALF,
          },
          { kind: 'credit', amount: -1_500n, creditsLineId: 'il_1' },
        ),
      ],
      priceOf(perUnit('2000')),
      3_000n,
    ],
    // The price 333.5 is billed as 334, and 15 of 31 days are unused.
    ['a credit of the line', creditedSeat('334'), priceOf(perUnit('333.5')), 172n],
    ['a credit of the line, at another price', creditedSeat('334'), priceOf(perUnit('1.49')), 1n],
    ['a credit limited by refunds', REFUNDED_SEATS, priceOf(perUnit('1000')), 2_500n],
    [
      'a credit limited by refunds, at a higher price',
      REFUNDED_SEATS,
      priceOf(perUnit('1100')),
      2_500n,
    ],
    ['an older credit of the price', creditedSeat('333.5'), priceOf(perUnit('333.5')), 173n],
    ['the fee of no usage, where only a minimum was billed', ONLY_MINIMUM, priceOf(FEE), 699n],
    [
      'no fee without groups, where only a minimum was billed',
      ONLY_MINIMUM,
      priceOf(FEE, { isByGroup: true }),
      0n,
    ],
  ])('%s', (_, lines, price, expected) => {
    expect(simulateItem(lines, price, () => [])).toBe(expected);
  });

  it('late usage of a bill that is void', () => {
    const lateUsage = usage({ amountMinor: 1_000n, heldMinor: 1_000n, quantity: '1000' });
    const lines = [line('il_2', lateUsage, { kind: 'usage', amount: 200n })];
    expect(simulateItem(lines, priceOf(perUnit('1')), calls(1_200n))).toBe(200n);
  });

  it.each<[string, bigint, Price, bigint]>([
    ['per unit', 1_200n, perUnit('2.5'), 3_000n],
    [
      'graduated',
      1_200n,
      {
        model: 'graduated',
        chargeFlatAtZero: false,
        tiers: [
          { upTo: '1000', unitAmount: '0', flatAmountMinor: 0n },
          { upTo: null, unitAmount: '5', flatAmountMinor: 0n },
        ],
      },
      1_000n,
    ],
    ['no usage', 0n, perUnit('2.5'), 0n],
  ])('usage, %s', (_, quantity, price, expected) => {
    const lines = [line('il_1', usage(), { isInAdvance: false })];
    expect(simulateItem(lines, priceOf(price), calls(quantity))).toBe(expected);
  });
});
