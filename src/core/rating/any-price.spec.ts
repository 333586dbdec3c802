import fc from 'fast-check';
import type { ModelPrice, ModelTier } from '../../../test/support/reference/catalog';
import { costOf } from '../../../test/support/reference/prices';
import { compare, rational } from '../decimal';
import { type Price, rate, type Usage } from './index';

/** Small amounts and bounds make a quantity often equal a bound, and an event's amount often equal a limit. */
const whole = fc.integer({ min: 0, max: 40 }).map(BigInt);
const positive = fc.integer({ min: 1, max: 40 }).map(BigInt);
const tenths = fc.oneof(
  fc.integer({ min: -60, max: 400 }).map(BigInt),
  fc.integer({ min: -10, max: 20 }).map((units) => BigInt(units) * 10n),
);
const decimalTo = (most: number, least = 0): fc.Arbitrary<string> =>
  fc
    .integer({ min: least * 1_000, max: most * 1_000 })
    .map((thousandths) => (thousandths / 1_000).toFixed(3));

const tiers = fc.uniqueArray(positive, { maxLength: 3 }).chain((unsorted) => {
  const bounds = unsorted.toSorted((one, other) => Number(one - other));
  const tierTo = (upTo: bigint | null, place: number): fc.Arbitrary<ModelTier> =>
    fc.record({
      above: fc.constant(bounds[place - 1] ?? 0n),
      upTo: fc.constant(upTo),
      amount: decimalTo(40),
      flat: whole,
    });
  return fc.tuple(...[...bounds, null].map(tierTo));
});

type Terms = Omit<ModelPrice, 'name' | 'timing'>;

const tiered = fc.record({
  model: fc.constantFrom('graduated' as const, 'volume' as const),
  amount: fc.constant(''),
  tiers,
  isFreeAtZero: fc.boolean(),
});
const packages = fc.record({
  model: fc.constant('package' as const),
  amount: decimalTo(40),
  packageSize: decimalTo(40, 0.1),
  free: whole,
});
const percentages = fc
  .record(
    {
      model: fc.constant('percentage' as const),
      amount: decimalTo(1),
      fixed: whole,
      free: fc.integer({ min: 1, max: 5 }).map(BigInt),
      freeAmount: positive,
      eventMinimum: whole,
      eventMaximum: whole,
    },
    { requiredKeys: ['model', 'amount'] },
  )
  .filter(({ eventMinimum = 0n, eventMaximum = eventMinimum }) => eventMinimum <= eventMaximum);

function priceOf({ model, amount, ...terms }: Terms): Price {
  switch (model) {
    case 'flat':
      return { model, amountMinor: BigInt(amount) };
    case 'per_unit':
      return { model, unitAmount: amount };
    case 'graduated':
    case 'volume':
      return {
        model,
        chargeFlatAtZero: terms.isFreeAtZero !== true,
        tiers: (terms.tiers ?? []).map((tier) => ({
          upTo: tier.upTo === null ? null : String(tier.upTo),
          unitAmount: tier.amount,
          flatAmountMinor: tier.flat,
        })),
      };
    case 'package': {
      const { packageSize = '1', free = 0n } = terms;
      return { model, unitAmount: amount, packageSize, freeUnits: String(free) };
    }
    case 'percentage':
      return {
        model,
        rate: amount,
        fixedAmountMinor: terms.fixed ?? 0n,
        freeEvents: terms.free ?? 0n,
        freeAmountMinor: terms.freeAmount ?? 0n,
        eventMinimumMinor: terms.eventMinimum ?? null,
        eventMaximumMinor: terms.eventMaximum ?? null,
      };
  }
}

describe('any price', () => {
  it('costs what the reference of the billing model says', () => {
    const terms: fc.Arbitrary<Terms> = fc.oneof(tiered, packages, percentages);
    fc.assert(
      fc.property(terms, fc.array(tenths, { maxLength: 8 }), (price, events) => {
        const total = events.reduce((sum, one) => sum + one, 0n);
        const usage: Usage =
          price.model === 'percentage'
            ? { kind: 'events', baseAmounts: events.map((one) => rational(one, 10n)) }
            : { kind: 'quantity', quantity: rational(total, 10n) };
        const cost = costOf(
          { ...price, name: 'Calls', timing: 'in_arrears' },
          { tenths: total, events },
        );
        const expected = rational(cost.over, cost.under);
        const { amount } = rate(priceOf(price), usage);
        expect({ expected, amount, compared: compare(amount, expected) }).toMatchObject({
          compared: 0,
        });
      }),
      { numRuns: 1_000 },
    );
  });
});
