import { totalsOf } from '../../test/support/usage-totals';
import published from '../../test/vectors/published-cases.json';
import { formatDecimal, formatExact, parseDecimal, rational } from './decimal';
import { minorDigits } from './money';
import { rate, roundAtLine, trueUp, type Price, type Tier } from './rating';
import { taxInvoice } from './tax';
import type { Period } from './time';
import { valueOf } from './usage';

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** Returns figures as text, so that 49, 49n and "49.00" are equal. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
  }
  const text = String(value);
  return DECIMAL.test(text) ? formatExact(parseDecimal(text)) : text;
}

const day = (text: string) => new Date(`${text}T00:00:00Z`);
const period = (start: string, end: string): Period => ({ startAt: day(start), endAt: day(end) });
const cost = (price: Price, quantity: string) =>
  formatExact(rate(price, { kind: 'quantity', quantity: parseDecimal(quantity) }).amount);
const tiered = (
  model: 'graduated' | 'volume',
  ...tiers: (readonly [upTo: string | null, unitAmount: string, flat?: bigint])[]
): Price => ({
  model,
  chargeFlatAtZero: true,
  tiers: tiers.map(([upTo, unitAmount, flatAmountMinor = 0n]): Tier => ({
    upTo,
    unitAmount,
    flatAmountMinor,
  })),
});
const major = (amountMinor: bigint, currency: string) =>
  formatDecimal(rational(amountMinor, 10n ** BigInt(minorDigits(currency))), minorDigits(currency));
const lineIn = (unitAmount: string, quantity: string, currency: string) => {
  const perUnit = rate(
    { model: 'per_unit', unitAmount },
    { kind: 'quantity', quantity: parseDecimal(quantity) },
  );
  return major(roundAtLine(perUnit.amount, null), currency);
};

/** Figures that this engine computes for each case, in the shape of the published figures. */
const computed: Readonly<Record<string, () => unknown>> = {
  X02: () => [lineIn('445.56', '10.625', 'USD'), lineIn('4.4556', '10.625', 'JPY')],
  T01: () => cost(tiered('graduated', ['10', '1.5'], ['110', '1'], [null, '0.5']), '111'),
  T02: () => cost(tiered('volume', ['10', '1.5'], ['110', '1'], [null, '0.5']), '111'),
  T07: () => {
    const price = tiered('graduated', ['10', '10', 2n], ['20', '5', 3n], [null, '5', 3n]);
    return ['0', '1', '10', '11', '12', '21'].map((quantity) => cost(price, quantity));
  },
  T08: () => {
    const price = tiered('graduated', ['0.1', '10'], ['1', '5'], [null, '2']);
    return ['0.05', '0.5'].map((quantity) => cost(price, quantity));
  },
  T10: () =>
    cost(
      tiered(
        'volume',
        ['10000', '0.0010', 10n],
        ['50000', '0.0008', 10n],
        ['100000', '0.0006', 10n],
        [null, '0.0004', 10n],
      ),
      '65000',
    ),
  T12: () => {
    const price: Price = {
      model: 'percentage',
      rate: '0.012',
      fixedAmountMinor: 10n,
      freeEvents: 3n,
      freeAmountMinor: 50000n,
      eventMinimumMinor: null,
      eventMaximumMinor: null,
    };
    const baseAmounts = ['20000', '10000', '10000', '5000'].map(parseDecimal);
    return major(roundAtLine(rate(price, { kind: 'events', baseAmounts }).amount, null), 'USD');
  },
  T16: () => {
    const price = tiered('volume', ['5', '7'], ['10', '6.5'], [null, '6']);
    return ['1', '5', '6', '20', '25'].map((quantity) => cost(price, quantity));
  },
  T18: () =>
    (['60', '5'] as const).map((packageSize) =>
      cost(
        { model: 'package', unitAmount: '10', packageSize, freeUnits: '0' },
        packageSize === '60' ? '150' : '6',
      ),
    ),
  T21: () => {
    const price = tiered('graduated', ['10000', '0.1'], ['100000', '0.08'], [null, '0.05']);
    const net = roundAtLine(parseDecimal(cost(price, '150000')), null);
    const { exclusiveTaxMinor } = taxInvoice(
      [{ lineId: 'calls', amountMinor: net, taxRateIds: ['tax'] }],
      [{ taxRateId: 'tax', percentage: '8', inclusive: false }],
      'none',
    );
    const figures = [net, exclusiveTaxMinor, net + exclusiveTaxMinor];
    return figures.map((minor) => major(minor, 'USD'));
  },
  U01: () => {
    const events = [{ occurredAt: day('2023-03-05'), value: parseDecimal('2500'), key: null }];
    const march = period('2023-03-01', '2023-04-01');
    const quantity = valueOf('weighted_sum', totalsOf(events, march), march);
    const { amount: fee } = rate(
      { model: 'per_unit', unitAmount: '100' },
      { kind: 'quantity', quantity },
    );
    return roundAtLine(fee, null);
  },
  U07: () => trueUp(100n, { minimumMinor: 1000n, maximumMinor: null }, null)?.amountMinor,
  F04: () => [lineIn('1027.5', '1', 'USD'), lineIn('1000.5', '1', 'JPY')],
};

describe('published cases of prices and usage', () => {
  const cases = published.cases.filter(({ area }) =>
    /^(tiers|percentage|volume|transform|graduated|weighted|min spend|rounding)/.test(area),
  );

  test.each(cases)('$id $area: $rule', ({ id, expected }) => {
    expect(plain(computed[id]?.())).toEqual(plain(expected));
  });

  test('every case is computed', () => {
    expect(Object.keys(computed).sort()).toEqual(cases.map(({ id }) => id).sort());
  });
});
