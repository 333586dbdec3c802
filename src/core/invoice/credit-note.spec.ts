import fc from 'fast-check';
import { InvariantError } from '../invariant';
import type { TaxShare } from '../tax';
import { CreditNoteParts, type CreditableLine, type CreditNoteAmounts } from './index';

/** An invoice line; `lowered` are the net amount and the tax of the line that lowers it to its maximum. */
type Billed = Omit<CreditableLine, 'together'> & { readonly lowered?: readonly [bigint, bigint] };

const line = (netMinor: bigint, taxMinor: bigint, change: Partial<Billed> = {}): Billed => ({
  lineId: 'il_1',
  netMinor,
  taxShares: [{ taxRateId: 'vat', taxMinor }],
  creditedNetMinor: 0n,
  creditedTaxShares: [],
  ...change,
});
const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n);
const taxAt = (rate: string, shares: readonly TaxShare[]): bigint =>
  sumOf(shares.filter(({ taxRateId }) => taxRateId === rate).map(({ taxMinor }) => taxMinor));
/** Returns lines that are billed together, lowered by an amount and by a tax at the rate `vat`. */
const together = (
  lines: readonly Billed[],
  [netMinor, taxMinor]: readonly [bigint, bigint] = [0n, 0n],
): CreditableLine[] => {
  const rates = [
    ...new Set(lines.flatMap(({ taxShares }) => taxShares).map((one) => one.taxRateId)),
  ];
  const left = {
    netMinor: sumOf(lines.map((one) => one.netMinor - one.creditedNetMinor)) + netMinor,
    taxShares: rates.map((taxRateId) => ({
      taxRateId,
      taxMinor: sumOf([
        ...lines.flatMap((one) => [
          taxAt(taxRateId, one.taxShares),
          -taxAt(taxRateId, one.creditedTaxShares),
        ]),
        taxRateId === 'vat' ? taxMinor : 0n,
      ]),
    })),
  };
  return lines.map((one) => ({ ...one, together: left }));
};
interface Request {
  readonly lineId: string;
  readonly netMinor: bigint;
}
const noteOf = (requests: readonly Request[], lines: readonly CreditableLine[]) => {
  const parts = new CreditNoteParts();
  for (const { lineId, netMinor } of requests) {
    const found = lines.find((one) => one.lineId === lineId);
    if (found === undefined) throw new Error(`There is no line ${lineId}.`);
    parts.take(found, netMinor);
  }
  return parts.amounts(lines);
};
const creditNote = (requests: readonly Request[], lines: readonly Billed[]) =>
  noteOf(
    requests,
    lines.flatMap((one) => together([one], one.lowered)),
  );
const afterNote = (before: Billed, note: CreditNoteAmounts): Billed => {
  const taken = note.lines.find(({ lineId }) => lineId === before.lineId);
  if (taken === undefined) return before;
  return {
    ...before,
    creditedNetMinor: before.creditedNetMinor + taken.netMinor,
    creditedTaxShares: [...before.creditedTaxShares, ...taken.taxShares],
  };
};
const many = (times: number, part: bigint[]): bigint[][] =>
  Array.from({ length: times }, () => part);
/** Issues credit notes on one line, one after the other. Returns the net amount and the tax of each. */
const inTurn = (first: Billed, nets: readonly bigint[]) => {
  let current = first;
  return nets.map((netMinor) => {
    const note = creditNote([{ lineId: current.lineId, netMinor }], [current]);
    current = afterNote(current, note);
    expect(note.totalMinor).toBe(note.netMinor + note.taxMinor);
    return [note.netMinor, note.taxMinor];
  });
};

describe('a credit note is net plus the tax that belongs to it', () => {
  test.each<[string, Billed, bigint[][]]>([
    ['29 of 30 days of 200.00 at 25%', line(20000n, 5000n), [[19333n, 4833n]]],
    [
      'two notes credit exactly the tax of the line',
      line(76900n, 15380n),
      [
        [72686n, 14537n],
        [4214n, 843n],
      ],
    ],
    [
      'the last of three takes the rest',
      line(30n, 10n),
      [
        [10n, 3n],
        [10n, 3n],
        [10n, 4n],
      ],
    ],
    [
      'rounding up does not take more than there is',
      line(10n, 2n),
      [
        [3n, 1n],
        [3n, 1n],
        [3n, 0n],
        [1n, 0n],
      ],
    ],
    ['an amount of zero takes the tax of a line without a net amount', line(0n, 1n), [[0n, 1n]]],
    [
      'an amount of zero takes the tax that credits left of a line',
      line(10n, 2n, {
        creditedNetMinor: 10n,
        creditedTaxShares: [{ taxRateId: 'vat', taxMinor: 1n }],
      }),
      [[0n, 1n]],
    ],
    [
      'notes that round up leave less tax of a charge lowered to its maximum',
      line(1000n, 190n, { lowered: [-333n, -63n] }),
      [...many(20, [3n, 1n]), [607n, 107n]],
    ],
    [
      'no more tax than a maximum leaves',
      line(1000n, 190n, { lowered: [-333n, -63n] }),
      [...many(127, [3n, 1n]), ...many(8, [3n, 0n]), [262n, 0n]],
    ],
    [
      'notes that round down leave more tax to the last one',
      line(1000n, 190n, { lowered: [-333n, -63n] }),
      [...many(20, [2n, 0n]), [627n, 127n]],
    ],
    [
      'an amount of zero takes the tax that is left although a maximum left no net amount',
      line(1000n, 190n, { lowered: [-1000n, -189n] }),
      [[0n, 1n]],
    ],
    [
      'earlier notes took more tax than a maximum left',
      line(1000n, 190n, {
        lowered: [-333n, -63n],
        creditedNetMinor: 390n,
        creditedTaxShares: [{ taxRateId: 'vat', taxMinor: 130n }],
      }),
      [[277n, 0n]],
    ],
    [
      'a line without tax',
      line(10n, 0n),
      [
        [4n, 0n],
        [6n, 0n],
      ],
    ],
  ])('%s', (_, given, expected) => {
    expect(
      inTurn(
        given,
        expected.map(([netMinor = 0n]) => netMinor),
      ),
    ).toEqual(expected);
  });

  test('its tax is split over the rates of the line', () => {
    const taxShares = [
      { taxRateId: 'gst', taxMinor: 50n },
      { taxRateId: 'qst', taxMinor: 100n },
    ];
    const note = creditNote(
      [{ lineId: 'il_1', netMinor: 333n }],
      [{ ...line(1000n, 0n), taxShares }],
    );
    expect(note.lines[0]?.taxShares).toEqual([
      { taxRateId: 'gst', taxMinor: 17n },
      { taxRateId: 'qst', taxMinor: 33n },
    ]);
    expect([note.netMinor, note.taxMinor, note.totalMinor]).toEqual([333n, 50n, 383n]);
  });

  test('tax is rounded once over the lines of a note', () => {
    const lines = ['a', 'b', 'c'].map((lineId) => ({ ...line(100n, 20n), lineId }));
    const note = creditNote(
      lines.map(({ lineId }) => ({ lineId, netMinor: 2n })),
      lines,
    );
    expect(note.lines.map(({ taxMinor }) => taxMinor)).toEqual([1n, 0n, 0n]);
    expect(note.totalMinor).toBe(7n);
  });

  test('a line that is itself a credit holds nothing to credit', () => {
    const creditable = (one: Billed) =>
      together([one]).map((left) => new CreditNoteParts().creditableMinor(left));
    expect(creditable(line(-100n, -20n))).toEqual([0n]);
    expect(creditable(line(100n, 20n, { creditedNetMinor: 30n }))).toEqual([70n]);
  });

  test.each<[string, () => unknown]>([
    [
      'more than the line holds',
      () => creditNote([{ lineId: 'il_1', netMinor: 101n }], [line(100n, 20n)]),
    ],
    ['nothing', () => creditNote([{ lineId: 'il_1', netMinor: 0n }], [line(100n, 20n)])],
    ['nothing of nothing', () => creditNote([{ lineId: 'il_1', netMinor: 0n }], [line(0n, 0n)])],
    [
      'the tax of a credited line',
      () => creditNote([{ lineId: 'il_1', netMinor: 0n }], [line(0n, -1n)]),
    ],
    [
      'a line twice',
      () =>
        creditNote(
          [
            { lineId: 'il_1', netMinor: 1n },
            { lineId: 'il_1', netMinor: 1n },
          ],
          [line(100n, 20n)],
        ),
    ],
    ['a credited line', () => creditNote([{ lineId: 'il_1', netMinor: 1n }], [line(-100n, -20n)])],
  ])('refused: %s', (_, attempt) => {
    expect(attempt).toThrow(InvariantError);
  });

  test('however a line is credited, the notes take its net and its tax exactly, and never more', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 1n, max: 5000n }), { minLength: 1, maxLength: 12 }),
        fc.bigInt({ min: 0n, max: 3000n }),
        fc.bigInt({ min: 0n, max: 3000n }),
        (nets, firstTax, secondTax) => {
          const taxShares = [
            { taxRateId: 'a', taxMinor: firstTax },
            { taxRateId: 'b', taxMinor: secondTax },
          ];
          const netMinor = nets.reduce((all, one) => all + one, 0n);
          let current: Billed = { ...line(netMinor, 0n), taxShares };
          for (const part of nets) {
            current = afterNote(
              current,
              creditNote([{ lineId: 'il_1', netMinor: part }], [current]),
            );
            for (const { taxRateId, taxMinor } of taxShares) {
              const credited = current.creditedTaxShares.filter(
                (share) => share.taxRateId === taxRateId,
              );
              const taken = credited.reduce((all, share) => all + share.taxMinor, 0n);
              expect(taken <= taxMinor).toBe(true);
              if (current.creditedNetMinor === netMinor) expect(taken).toBe(taxMinor);
            }
          }
        },
      ),
    );
  });

  test('lines lowered by one maximum share what it left', () => {
    const lines = ['a', 'b'].map((lineId) => line(500n, 95n, { lineId }));
    const ofBoth = noteOf(
      [
        { lineId: 'a', netMinor: 500n },
        { lineId: 'b', netMinor: 167n },
      ],
      together(lines, [-333n, -63n]),
    );
    expect(ofBoth.lines.map(({ netMinor, taxMinor }) => [netMinor, taxMinor])).toEqual([
      [500n, 95n],
      [167n, 32n],
    ]);
  });

  test('a correction that exceeds the usage beside it takes no tax of another line', () => {
    const lines = [
      ...together([line(100n, 19n, { lineId: 'a' })]),
      ...together([line(10n, 2n, { lineId: 'b' })], [-15n, -3n]),
    ];
    const note = noteOf([{ lineId: 'a', netMinor: 100n }], lines);
    expect(note.lines.map(({ netMinor, taxMinor }) => [netMinor, taxMinor])).toEqual([[100n, 19n]]);
  });

  test('however lines with two rates and one maximum are credited, the notes take what it left, and never more', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 3 }), fc.bigInt({ min: 1n, max: 400n })), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.bigInt({ min: 0n, max: 1200n }),
        fc.bigInt({ min: 0n, max: 40n }),
        (orders, lowered, percent) => {
          const taxShares = [
            { taxRateId: 'vat', taxMinor: 4n * percent },
            { taxRateId: 'city', taxMinor: 7n },
          ];
          let lines = ['a', 'b', 'c'].map((lineId) => ({
            ...line(400n, 0n, { lineId }),
            taxShares,
          }));
          const off = [-lowered, -(lowered * percent) / 100n] as const;
          const taken = { netMinor: 0n, taxMinor: 0n };
          const issue = (wanted: readonly (readonly [string, bigint])[]): void => {
            const parts = new CreditNoteParts();
            const current = together(lines, off);
            for (const [lineId, most] of wanted) {
              for (const one of current.filter((left) => left.lineId === lineId)) {
                const creditable = parts.creditableMinor(one);
                const netMinor = most < creditable ? most : creditable;
                if (netMinor > 0n || parts.isOnlyTaxLeft(one)) parts.take(one, netMinor);
              }
            }
            const note = parts.amounts(current);
            taken.netMinor += note.netMinor;
            taken.taxMinor += note.taxMinor;
            lines = lines.map((one) => ({ ...one, ...afterNote(one, note), taxShares }));
          };
          for (const [place, most] of orders) {
            issue(
              place === 3
                ? lines.map(({ lineId }) => [lineId, most])
                : [['abc'.charAt(place), most]],
            );
          }
          issue(lines.map(({ lineId }) => [lineId, 400n]));
          issue(lines.map(({ lineId }) => [lineId, 0n]));
          const left = together(lines, off)[0]?.together;
          expect(left?.taxShares.every(({ taxMinor }) => taxMinor >= 0n)).toBe(true);
          expect(taken.netMinor).toBe(1200n - lowered);
          expect(taken.taxMinor).toBe(12n * percent + 21n + off[1]);
        },
      ),
    );
  });
});
