import fc from 'fast-check';
import { type HeldLines, maxWithTax } from '../../../core/invoice';
import { takenFrom, type UsageStep } from './corrected-parts';

type Parts = Readonly<Record<string, bigint>>;

const IDS = ['a', 'b', 'c'];

const billed = (invoiceId: string, grossMinor: bigint): UsageStep => ({
  invoiceId,
  grossMinor,
  corrects: null,
});
const noted = (invoiceId: string, grossMinor: bigint): UsageStep => billed(invoiceId, -grossMinor);
const heldAt = (percentage: number): HeldLines => ({
  heldMinor: 1_000_000n,
  taxes: [{ taxRateId: 'vat', percentage: `${percentage}`, inclusive: false, leftMinor: 500_000n }],
  hasOneSetOfRates: true,
  discounts: [],
});
const corrected = (grossMinor: bigint, percentage: number | null, parts: Parts): UsageStep => ({
  invoiceId: 'later',
  grossMinor: -grossMinor,
  corrects: {
    taken: Object.entries(parts).map(([invoiceId, amountMinor]) => ({ invoiceId, amountMinor })),
    ...(percentage !== null && { held: heldAt(percentage) }),
  },
});
const taken = (steps: readonly UsageStep[]): Parts =>
  Object.fromEntries(IDS.map((id) => [id, takenFrom(id, steps)]));

const sum = (minors: readonly bigint[]): bigint =>
  minors.reduce((total, minor) => total + minor, 0n);

describe('corrections of usage that several invoices billed', () => {
  test.each<[string, UsageStep[], Parts]>([
    ['take nothing if there are none', [billed('a', 10n)], { a: 0n, b: 0n, c: 0n }],
    [
      'are divided by largest remainder',
      [billed('a', 925n), billed('b', 396n), corrected(1_321n, 19, { a: 777n, b: 333n })],
      { a: 925n, b: 396n, c: 0n },
    ],
    [
      'take from each invoice the tax that was rounded there',
      [billed('a', 11n), billed('b', 12n), corrected(23n, 15, { a: 10n, b: 10n })],
      { a: 11n, b: 12n, c: 0n },
    ],
    [
      'pass an excess to invoices with more left',
      [
        billed('a', 3n),
        billed('b', 8n),
        billed('c', 8n),
        corrected(13n, 20, { a: 4n, b: 4n, c: 4n }),
      ],
      { a: 3n, b: 5n, c: 5n },
    ],
    [
      'pass an excess to no invoice of which refunds can have left less',
      [
        billed('a', 1_190n),
        billed('b', 2n),
        billed('c', 2n),
        corrected(124n, 19, { a: 100n, b: 2n, c: 2n }),
      ],
      { a: 119n, b: 3n, c: 2n },
    ],
    [
      'are rounded up if refunds can have left too little of all invoices',
      [billed('a', 12n), billed('b', 12n), corrected(25n, 20, { a: 10n, b: 10n })],
      { a: 13n, b: 13n, c: 0n },
    ],
    [
      'are rounded up if their taxes are not known',
      [billed('a', 11n), billed('b', 12n), corrected(23n, null, { a: 10n, b: 10n })],
      { a: 12n, b: 12n, c: 0n },
    ],
    [
      'leave an excess for which no invoice has enough left',
      [billed('a', 3n), billed('b', 4n), corrected(9n, 15, { a: 4n, b: 4n })],
      { a: 5n, b: 4n, c: 0n },
    ],
    [
      'take what credit notes before them left',
      [billed('a', 14n), billed('b', 12n), noted('a', 3n), corrected(23n, 15, { a: 10n, b: 10n })],
      { a: 11n, b: 12n, c: 0n },
    ],
    [
      'are not changed by credit notes after them',
      [billed('a', 14n), billed('b', 12n), corrected(12n, 20, { a: 5n, b: 5n }), noted('a', 14n)],
      { a: 6n, b: 6n, c: 0n },
    ],
    [
      'take what former corrections left',
      [
        billed('a', 11n),
        billed('b', 12n),
        corrected(11n, 15, { a: 5n, b: 5n }),
        corrected(12n, 15, { a: 5n, b: 5n }),
      ],
      { a: 11n, b: 12n, c: 0n },
    ],
    [
      'take nothing from invoices that refunds limited to nothing',
      [billed('a', 12n), billed('b', 12n), corrected(13n, 30, { a: 0n, b: 10n })],
      { a: 0n, b: 13n, c: 0n },
    ],
    [
      'of former versions that took from no invoice lower what their own invoice billed',
      [billed('a', 3n), billed('b', 3n), billed('b', -1n), corrected(5n, 25, { a: 2n, b: 2n })],
      { a: 3n, b: 2n, c: 0n },
    ],
  ])('%s', (_, steps, parts) => {
    expect(taken(steps)).toEqual(parts);
  });

  const amounts = fc.array(fc.bigInt(2n, 999n), { minLength: 1, maxLength: 3 });
  const percentages = fc.integer({ min: 0, max: 100 });
  const partsOf = (nets: readonly bigint[]): Parts =>
    Object.fromEntries(nets.map((net, index) => [IDS[index] ?? '', net]));
  const withTax = (net: bigint, percentage: number): bigint =>
    net + (2n * net * BigInt(percentage) + 100n) / 200n;

  test('take from each invoice exactly what it billed, if they take all', () => {
    fc.assert(
      fc.property(amounts, percentages, (nets, percentage) => {
        const all = nets.map((net) => withTax(net, percentage));
        const steps = all.map((gross, index) => billed(IDS[index] ?? '', gross));
        const parts = taken([...steps, corrected(sum(all), percentage, partsOf(nets))]);
        expect(parts).toMatchObject(partsOf(all));
      }),
    );
  });

  test('add up, and take no more than refunds can have left of each invoice', () => {
    const bills = fc.array(fc.tuple(fc.bigInt(0n, 2_000n), fc.bigInt(1n, 999n)), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(bills, percentages, (pairs, percentage) => {
        const steps = pairs.map(([gross], index) => billed(IDS[index] ?? '', gross));
        const nets = pairs.map(([, net]) => net);
        const gross = withTax(sum(nets), percentage);
        const parts = taken([...steps, corrected(gross, percentage, partsOf(nets))]);
        expect(sum(Object.values(parts))).toBe(gross);
        nets.forEach((net, index) => {
          const most = maxWithTax(heldAt(percentage), net);
          expect(parts[IDS[index] ?? '']).toBeLessThanOrEqual(most);
        });
      }),
    );
  });
});
