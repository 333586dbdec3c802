import fc from 'fast-check';
import { compare, formatExact, multiply, parseDecimal, rational, type Rational } from '../decimal';
import { InvariantError } from '../invariant';
import { rate, roundAtLine, type Price, type Tier, type Usage } from './index';
import { amountOfSteps } from './trace';

const quantity = (text: string): Usage => ({ kind: 'quantity', quantity: parseDecimal(text) });
const events = (...amounts: string[]): Usage => ({
  kind: 'events',
  baseAmounts: amounts.map(parseDecimal),
});
const tier = (upTo: string | null, unitAmount: string, flatAmountMinor = 0n): Tier => ({
  upTo,
  unitAmount,
  flatAmountMinor,
});
const tiered = (
  model: 'graduated' | 'volume',
  tiers: readonly Tier[],
  chargeFlatAtZero = true,
): Price => ({ model, tiers, chargeFlatAtZero });
/** The exact amount in minor units, as text. */
const amount = (price: Price, usage: Usage) => formatExact(rate(price, usage).amount);

describe('flat: the amount, whatever the quantity', () => {
  test.each(['0', '1', '1000.5'])('for %s', (units) => {
    expect(amount({ model: 'flat', amountMinor: 2900n }, quantity(units))).toBe('2900');
  });
});

describe('per unit: unit amount x quantity, exact until the line', () => {
  test.each([
    ['445.56', '10.625', '4734.075', 4734n],
    ['0.0125', '100', '1.25', 1n],
    ['0.0125', '40', '0.5', 1n],
    ['100', '0', '0', 0n],
    ['100', '-3', '0', 0n],
    ['0.000000000000000001', '0.000000000000000001', `0.${'0'.repeat(35)}1`, 0n],
  ])('%s x %s is %s', (unitAmount, units, exact, lineMinor) => {
    const price: Price = { model: 'per_unit', unitAmount };
    expect(amount(price, quantity(units))).toBe(exact);
    expect(roundAtLine(rate(price, quantity(units)).amount, null)).toBe(lineMinor);
  });
});

describe('graduated: each tier prices the units that fall into it', () => {
  const withFlats = [tier('10', '1000', 200n), tier('20', '500', 300n), tier(null, '500', 300n)];

  test.each([
    ['0', '200'], // the first flat amount is due at zero
    ['1', '1200'],
    ['10', '10200'], // a bound belongs to the tier that ends there
    ['10.5', '10750'],
    ['11', '11000'],
    ['20', '15500'],
    ['21', '16300'],
  ])('%s units: %s', (units, expected) => {
    expect(amount(tiered('graduated', withFlats), quantity(units))).toBe(expected);
  });

  test('the flat amount at zero can be switched off, and comes with the first unit', () => {
    expect(amount(tiered('graduated', withFlats, false), quantity('0'))).toBe('0');
    expect(amount(tiered('graduated', withFlats, false), quantity('0.001'))).toBe('201');
  });

  test('the trace names the tiers used', () => {
    expect(rate(tiered('graduated', withFlats), quantity('11')).steps).toEqual([
      { kind: 'tier', tier: 0, quantity: '10', unitAmount: '1000', flatAmount: '200' },
      { kind: 'tier', tier: 1, quantity: '1', unitAmount: '500', flatAmount: '300' },
    ]);
  });
});

describe('volume: one tier prices all units', () => {
  const withFlats = [tier('5', '700', 100n), tier('10', '650', 50n), tier(null, '600')];

  test.each([
    ['0', '100'],
    ['1', '800'],
    ['5', '3600'],
    ['5.5', '3625'],
    ['10', '6550'],
    ['11', '6600'],
  ])('%s units: %s', (units, expected) => {
    expect(amount(tiered('volume', withFlats), quantity(units))).toBe(expected);
  });

  test('no flat amount at zero when that is switched off', () => {
    expect(rate(tiered('volume', withFlats, false), quantity('0'))).toEqual({
      amount: rational(0n),
      steps: [],
    });
  });
});

describe('package: whole packages of what is beyond the free units', () => {
  test.each([
    ['0', '0', '0'],
    ['0', '1', '1000'],
    ['0', '60', '1000'],
    ['0', '60.001', '2000'],
    ['0', '150', '3000'],
    ['100', '100', '0'],
    ['100', '100.5', '1000'],
    ['100', '161', '2000'],
    ['0.5', '0.4', '0'],
  ])('%s free, %s used: %s', (freeUnits, units, expected) => {
    const price: Price = { model: 'package', unitAmount: '1000', packageSize: '60', freeUnits };
    expect(amount(price, quantity(units))).toBe(expected);
  });

  test('a package may hold a part of a unit', () => {
    const price: Price = {
      model: 'package',
      unitAmount: '2.5',
      packageSize: '0.25',
      freeUnits: '0',
    };
    expect(amount(price, quantity('1.1'))).toBe('12.5');
  });
});

describe('percentage: of the base amounts, with a fixed amount an event', () => {
  const percentage = (change: Partial<Extract<Price, { model: 'percentage' }>> = {}): Price => ({
    model: 'percentage',
    rate: '0.012',
    fixedAmountMinor: 10n,
    freeEvents: 0n,
    freeAmountMinor: 0n,
    eventMinimumMinor: null,
    eventMaximumMinor: null,
    ...change,
  });

  test.each<[string, Price, Usage, string]>([
    ['no events cost nothing', percentage(), events(), '0'],
    ['rate and fixed amount', percentage(), events('10000', '5000'), '200'],
    [
      'the free events end first',
      percentage({ freeEvents: 3n, freeAmountMinor: 50000n }),
      events('20000', '10000', '10000', '5000'),
      '70',
    ],
    [
      'the free amount ends first and ends the free events',
      percentage({ freeEvents: 10n, freeAmountMinor: 30000n }),
      events('20000', '10000', '10000'),
      '130',
    ],
    [
      'the event that crosses the free amount pays for the rest of it',
      percentage({ freeAmountMinor: 25000n }),
      events('20000', '10000'),
      '70',
    ],
    [
      'an event of nothing after the free amount is used up pays the fixed amount',
      percentage({ freeAmountMinor: 25000n }),
      events('25000', '0'),
      '10',
    ],
    ['free events only', percentage({ freeEvents: 1n }), events('20000', '10000'), '130'],
    ['all free', percentage({ freeEvents: 2n }), events('20000', '10000'), '0'],
    [
      'an event of nothing uses up a free event',
      percentage({ freeEvents: 1n }),
      events('0', '10000'),
      '130',
    ],
    [
      'a dear event is held to its maximum',
      percentage({ eventMaximumMinor: 100n }),
      events('10000', '5000'),
      '170',
    ],
    [
      'a cheap event is lifted to its minimum',
      percentage({ eventMinimumMinor: 100n }),
      events('10000', '5000'),
      '230',
    ],
    [
      'a free event is not lifted',
      percentage({ freeEvents: 1n, eventMinimumMinor: 100n }),
      events('1', '1'),
      '100',
    ],
    ['a fixed amount of one', percentage({ fixedAmountMinor: 1n }), events('10000'), '121'],
    [
      'a free amount of one',
      percentage({ freeAmountMinor: 1n, fixedAmountMinor: 0n }),
      events('1', '100'),
      '1.2',
    ],
    ['a refund lowers the base', percentage(), events('10000', '-5000'), '80'],
    ['refunds alone cost nothing', percentage(), events('-10000'), '0'],
    [
      'what a minimum adds counts before the floor of zero',
      percentage({ eventMinimumMinor: 0n }),
      events('-10000', '10000'),
      '130',
    ],
    [
      'fractions of a minor unit stay',
      percentage({ rate: '0.0015', fixedAmountMinor: 0n }),
      events('33.3'),
      '0.04995',
    ],
  ])('%s', (_, price, usage, expected) => {
    expect(amount(price, usage)).toBe(expected);
  });

  test('the trace sums up, however many events there are', () => {
    const price = percentage({ eventMinimumMinor: 100n, eventMaximumMinor: 125n });
    expect(rate(price, events('10000', '5000')).steps).toEqual([
      { kind: 'rate', quantity: '15000', unitAmount: '0.012', flatAmount: '0' },
      { kind: 'fixed', quantity: '2', unitAmount: '10', flatAmount: '0' },
      { kind: 'event_minimum', quantity: '0', unitAmount: '0', flatAmount: '30' },
      { kind: 'event_maximum', quantity: '0', unitAmount: '0', flatAmount: '-5' },
    ]);
  });
});

describe('percentage: refunds', () => {
  test('the trace of refunds alone adds up to zero', () => {
    const price: Price = {
      model: 'percentage',
      rate: '0.1',
      fixedAmountMinor: 30n,
      freeEvents: 0n,
      freeAmountMinor: 0n,
      eventMinimumMinor: null,
      eventMaximumMinor: null,
    };
    expect(rate(price, events('-1000')).steps).toEqual([
      { kind: 'rate', quantity: '-1000', unitAmount: '0.1', flatAmount: '0' },
      { kind: 'fixed', quantity: '1', unitAmount: '30', flatAmount: '0' },
      { kind: 'event_minimum', quantity: '0', unitAmount: '0', flatAmount: '70' },
    ]);
  });
});

describe('what is not a price is refused', () => {
  test.each<[string, Price, Usage]>([
    [
      'tiers that do not ascend',
      tiered('graduated', [tier('10', '1'), tier('10', '1'), tier(null, '1')]),
      quantity('1'),
    ],
    ['a last tier with an end', tiered('volume', [tier('10', '1')]), quantity('1')],
    [
      'an open tier before the last',
      tiered('graduated', [tier(null, '1'), tier(null, '1')]),
      quantity('1'),
    ],
    ['no tiers', tiered('volume', []), quantity('1')],
    [
      'a first tier that ends at zero',
      tiered('graduated', [tier('0', '1'), tier(null, '1')]),
      quantity('1'),
    ],
    [
      'an empty package',
      { model: 'package', unitAmount: '1', packageSize: '0', freeUnits: '0' },
      quantity('1'),
    ],
    ['a unit amount in words', { model: 'per_unit', unitAmount: 'ten' }, quantity('1')],
    ['events for a price by quantity', { model: 'per_unit', unitAmount: '1' }, events('1')],
    [
      'a quantity for a percentage',
      {
        model: 'percentage',
        rate: '0.1',
        fixedAmountMinor: 0n,
        freeEvents: 0n,
        freeAmountMinor: 0n,
        eventMinimumMinor: null,
        eventMaximumMinor: null,
      },
      quantity('1'),
    ],
  ])('%s', (_, price, usage) => {
    expect(() => rate(price, usage)).toThrow(InvariantError);
  });
});

describe('at the line', () => {
  const half = { numerator: 17n, denominator: 31n, unit: 'day' as const };

  test.each([
    ['2000', 1097n],
    ['1000', 548n],
    ['0.5', 0n],
    ['-1000', -548n],
  ])('%s for 17 of 31 days is %d, rounded once', (exact, lineMinor) => {
    expect(roundAtLine(parseDecimal(exact), half)).toBe(lineMinor);
  });
});

describe('for any price', () => {
  const decimal = (max: number) =>
    fc
      .tuple(fc.nat(max), fc.nat(999))
      .map(([units, milli]) => rational(BigInt(units * 1000 + milli), 1000n));
  const text = (value: Rational) => formatExact(value);
  const tiers = fc
    .array(
      fc.record({ width: fc.integer({ min: 1, max: 50 }), unit: decimal(100), flat: fc.nat(500) }),
      { minLength: 1, maxLength: 5 },
    )
    .map((specs) => {
      let upTo = 0;
      return specs.map(({ width, unit, flat }, index) => {
        upTo += width;
        return tier(index === specs.length - 1 ? null : upTo.toString(), text(unit), BigInt(flat));
      });
    });
  const prices: fc.Arbitrary<Price> = fc.oneof(
    decimal(1000).map((unit): Price => ({ model: 'per_unit', unitAmount: text(unit) })),
    tiers.map((given) => tiered('graduated', given)),
    fc
      .record({ unit: decimal(100), size: fc.integer({ min: 1, max: 9 }), free: decimal(10) })
      .map(({ unit, size, free }): Price => ({
        model: 'package',
        unitAmount: text(unit),
        packageSize: size.toString(),
        freeUnits: text(free),
      })),
  );

  test('more quantity never costs less, except by volume', () => {
    fc.assert(
      fc.property(prices, decimal(300), decimal(300), (price, left, right) => {
        const [less, more] = compare(left, right) <= 0 ? [left, right] : [right, left];
        const costs = [less, more].map(
          (units) => rate(price, { kind: 'quantity', quantity: units }).amount,
        );
        expect(compare(costs[0] ?? rational(1n), costs[1] ?? rational(0n)) <= 0).toBe(true);
      }),
    );
  });

  test('one tier without a flat amount is a price per unit, graduated or by volume', () => {
    fc.assert(
      fc.property(decimal(1000), decimal(300), (unit, units) => {
        for (const model of ['graduated', 'volume'] as const) {
          const usage: Usage = { kind: 'quantity', quantity: units };
          const rated = rate(tiered(model, [tier(null, text(unit))]), usage);
          expect(rated.amount).toEqual(multiply(unit, units));
        }
      }),
    );
  });

  test('the trace evaluates to the amount', () => {
    fc.assert(
      fc.property(prices, decimal(300), (price, units) => {
        const { amount: exact, steps } = rate(price, { kind: 'quantity', quantity: units });
        expect(amountOfSteps(JSON.parse(JSON.stringify(steps)) as typeof steps)).toEqual(exact);
      }),
    );
  });
});
