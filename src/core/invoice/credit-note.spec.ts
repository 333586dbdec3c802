import fc from 'fast-check';
import { InvariantError } from '../invariant';
import { creditableMinor, creditNote, type CreditableLine, type CreditNoteAmounts } from './index';

const line = (netMinor: bigint, taxMinor: bigint, change: Partial<CreditableLine> = {}) => ({
  lineId: 'il_1',
  netMinor,
  taxShares: [{ taxRateId: 'vat', taxMinor }],
  creditedNetMinor: 0n,
  creditedTaxShares: [],
  ...change,
});
const afterNote = (before: CreditableLine, note: CreditNoteAmounts): CreditableLine => {
  const [taken] = note.lines;
  if (taken === undefined) throw new Error('a note has a line');
  return {
    ...before,
    creditedNetMinor: before.creditedNetMinor + taken.netMinor,
    creditedTaxShares: [...before.creditedTaxShares, ...taken.taxShares],
  };
};
/** Issues credit notes on one line, one after the other. Returns the net amount and the tax of each. */
const inTurn = (first: CreditableLine, nets: readonly bigint[]) => {
  let current = first;
  return nets.map((netMinor) => {
    const note = creditNote([{ lineId: current.lineId, netMinor }], [current]);
    current = afterNote(current, note);
    expect(note.totalMinor).toBe(note.netMinor + note.taxMinor);
    return [note.netMinor, note.taxMinor];
  });
};

describe('a credit note is net plus the tax that belongs to it', () => {
  test.each<[string, CreditableLine, bigint[][]]>([
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
    expect(creditableMinor(line(-100n, -20n))).toBe(0n);
    expect(creditableMinor(line(100n, 20n, { creditedNetMinor: 30n }))).toBe(70n);
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
    ['an unknown line', () => creditNote([{ lineId: 'il_2', netMinor: 1n }], [line(100n, 20n)])],
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
          let current: CreditableLine = { ...line(netMinor, 0n), taxShares };
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
});
