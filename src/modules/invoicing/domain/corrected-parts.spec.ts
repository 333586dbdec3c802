import fc from 'fast-check';
import { takenFrom, type UsageStep } from './corrected-parts';

type Parts = Readonly<Record<string, bigint>>;

const billed = (invoiceId: string, grossMinor: bigint): UsageStep => ({
  invoiceId,
  grossMinor,
  taken: [],
});
const noted = (invoiceId: string, grossMinor: bigint): UsageStep => billed(invoiceId, -grossMinor);
const corrected = (grossMinor: bigint, parts: Parts): UsageStep => ({
  invoiceId: 'later',
  grossMinor: -grossMinor,
  taken: Object.entries(parts).map(([invoiceId, amountMinor]) => ({ invoiceId, amountMinor })),
});
const taken = (steps: readonly UsageStep[]): Parts =>
  Object.fromEntries(['a', 'b', 'c'].map((id) => [id, takenFrom(id, steps)]));

const sum = (minors: readonly bigint[]): bigint =>
  minors.reduce((total, minor) => total + minor, 0n);

describe('corrections of usage that several invoices billed', () => {
  test.each<[string, UsageStep[], Parts]>([
    ['take nothing if there are none', [billed('a', 10n)], { a: 0n, b: 0n, c: 0n }],
    [
      'are divided by largest remainder',
      [billed('a', 925n), billed('b', 396n), corrected(1_321n, { a: 777n, b: 333n })],
      { a: 925n, b: 396n, c: 0n },
    ],
    [
      'take from each invoice the tax that was rounded there',
      [billed('a', 11n), billed('b', 12n), corrected(23n, { a: 10n, b: 10n })],
      { a: 11n, b: 12n, c: 0n },
    ],
    [
      'pass an excess to the first invoice with more left',
      [billed('a', 1n), billed('b', 8n), billed('c', 8n), corrected(12n, { a: 4n, b: 4n, c: 4n })],
      { a: 1n, b: 7n, c: 4n },
    ],
    [
      'leave an excess for which no invoice has enough left',
      [billed('a', 3n), billed('b', 4n), corrected(9n, { a: 4n, b: 4n })],
      { a: 5n, b: 4n, c: 0n },
    ],
    [
      'take what credit notes before them left',
      [billed('a', 14n), billed('b', 12n), noted('a', 3n), corrected(23n, { a: 10n, b: 10n })],
      { a: 11n, b: 12n, c: 0n },
    ],
    [
      'are not changed by credit notes after them',
      [billed('a', 14n), billed('b', 12n), corrected(12n, { a: 5n, b: 5n }), noted('a', 14n)],
      { a: 6n, b: 6n, c: 0n },
    ],
    [
      'take what former corrections left',
      [
        billed('a', 11n),
        billed('b', 12n),
        corrected(11n, { a: 5n, b: 5n }),
        corrected(12n, { a: 5n, b: 5n }),
      ],
      { a: 11n, b: 12n, c: 0n },
    ],
    [
      'take nothing from invoices that refunds limited to nothing',
      [billed('a', 12n), billed('b', 12n), corrected(13n, { a: 0n, b: 10n })],
      { a: 0n, b: 13n, c: 0n },
    ],
    [
      'of former versions that took from no invoice lower what their own invoice billed',
      [billed('a', 12n), billed('b', -2n), corrected(5n, { a: 4n, b: 1n })],
      { a: 5n, b: 0n, c: 0n },
    ],
  ])('%s', (_, steps, parts) => {
    expect(taken(steps)).toEqual(parts);
  });

  test('add up to what they took, and take at most what each invoice billed', () => {
    const ids = ['a', 'b', 'c'];
    const amounts = fc.array(fc.tuple(fc.bigInt(2n, 999n), fc.bigInt(0n, 190n)), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(amounts, (bills) => {
        const steps = bills.map(([net, tax], index) => billed(ids[index] ?? '', net + tax));
        const half = bills.map(([net]) => net / 2n);
        const rest = bills.map(([net]) => net - net / 2n);
        const all = sum(bills.flat());
        const first = sum(half) + sum(bills.map(([, tax]) => tax)) / 2n;
        const partsOf = (nets: readonly bigint[]): Parts =>
          Object.fromEntries(nets.map((net, index) => [ids[index] ?? '', net]));
        const once = [...steps, corrected(first, partsOf(half))];
        const twice = [...once, corrected(all - first, partsOf(rest))];
        expect(sum(ids.map((id) => takenFrom(id, once)))).toBe(first);
        expect(bills.map((_, index) => takenFrom(ids[index] ?? '', twice))).toEqual(
          bills.map(([net, tax]) => net + tax),
        );
      }),
    );
  });
});
