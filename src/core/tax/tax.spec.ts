import fc from 'fast-check';
import { InvariantError } from '../invariant';
import { taxInvoice, type TaxableLine, type AppliedTaxRate } from './index';

const rate = (taxRateId: string, percentage: string, inclusive = false): AppliedTaxRate => ({
  taxRateId,
  percentage,
  inclusive,
});
const line = (amountMinor: bigint, ...taxRateIds: string[]): TaxableLine => ({
  lineId: `il_${amountMinor}`,
  amountMinor,
  taxRateIds,
});
const vat = rate('vat', '20');
const gross19 = rate('mwst', '19', true);

describe('one rounding per rate over the whole invoice, split over the lines', () => {
  test.each<[string, TaxableLine[], AppliedTaxRate[], bigint[], bigint[]]>([
    ['20% of 10.00', [line(1000n, 'vat')], [vat], [1000n], [200n]],
    ['194 at 20% is 39', [line(194n, 'vat')], [vat], [194n], [39n]],
    ['8% of 107.00', [line(10700n, 'gst')], [rate('gst', '8')], [10700n], [856n]],
    [
      'three times 0.4 is 1.2, and is 1',
      [2n, 2n, 2n].map((net) => line(net, 'vat')),
      [vat],
      [2n, 2n, 2n],
      [1n, 0n, 0n],
    ],
    [
      '72686 and 4214',
      [line(72686n, 'vat'), line(4214n, 'vat')],
      [vat],
      [72686n, 4214n],
      [14537n, 843n],
    ],
    [
      'a credit takes its tax back',
      [line(1000n, 'vat'), line(-483n, 'vat')],
      [vat],
      [1000n, -483n],
      [200n, -97n],
    ],
    [
      'a charge and a credit, two rates',
      [line(580n, 'gst', 'qst'), line(-290n, 'gst', 'qst')],
      [rate('gst', '5'), rate('qst', '9.975')],
      [580n, -290n],
      [87n, -43n],
    ],
    ['a line without a rate', [line(1000n), line(500n, 'vat')], [vat], [1000n, 500n], [0n, 100n]],
    [
      'two rates on a line',
      [line(1000n, 'gst', 'qst')],
      [rate('gst', '5'), rate('qst', '9.975')],
      [1000n],
      [150n],
    ],
    ['19% within 119.00', [line(11900n, 'mwst')], [gross19], [10000n], [1900n]],
    ['19% within 1.00 is rounded', [line(100n, 'mwst')], [gross19], [84n], [16n]],
    [
      'inclusive, rounded once for all lines',
      [line(100n, 'mwst'), line(100n, 'mwst'), line(100n, 'mwst')],
      [gross19],
      [84n, 84n, 84n],
      [16n, 16n, 16n],
    ],
    [
      'two inclusive rates share one net',
      [line(11500n, 'a', 'b')],
      [rate('a', '10', true), rate('b', '5', true)],
      [10000n],
      [1500n],
    ],
    [
      'an exclusive rate on the net of an inclusive one',
      [line(11900n, 'mwst', 'levy')],
      [gross19, rate('levy', '1')],
      [10000n],
      [2000n],
    ],
    [
      'two inclusive rates that would both be rounded up on the first line',
      [1n, 1n, 1n, 1n].map((amount) => line(amount, 'a', 'b')),
      [rate('a', '19', true), rate('b', '19', true)],
      [0n, 0n, 1n, 1n],
      [1n, 1n, 0n, 0n],
    ],
    ['zero percent', [line(1000n, 'zero')], [rate('zero', '0')], [1000n], [0n]],
    ['nothing', [], [vat], [], []],
  ])('%s', (_, lines, rates, nets, taxes) => {
    const tax = taxInvoice(lines, rates, 'none');
    expect(tax.lines.map(({ netMinor }) => netMinor)).toEqual(nets);
    expect(tax.lines.map(({ taxMinor }) => taxMinor)).toEqual(taxes);
    expect(tax.note).toBeNull();
  });

  test('each rate states what it taxed, and a rate on no line is left out', () => {
    const tax = taxInvoice(
      [line(1000n, 'vat', 'levy'), line(500n, 'vat')],
      [vat, rate('levy', '1.5'), rate('idle', '9')],
      'none',
    );
    expect(tax.rates).toEqual([
      { taxRateId: 'vat', taxableMinor: 1500n, taxMinor: 300n },
      { taxRateId: 'levy', taxableMinor: 1000n, taxMinor: 15n },
    ]);
    expect(tax.lines[0]?.shares).toEqual([
      { taxRateId: 'vat', taxMinor: 200n },
      { taxRateId: 'levy', taxMinor: 15n },
    ]);
    expect([tax.exclusiveTaxMinor, tax.inclusiveTaxMinor]).toEqual([315n, 0n]);
  });

  test('inclusive tax is not added to what is owed', () => {
    const tax = taxInvoice([line(11900n, 'mwst', 'levy')], [gross19, rate('levy', '1')], 'none');
    expect([tax.exclusiveTaxMinor, tax.inclusiveTaxMinor]).toEqual([100n, 1900n]);
    expect(tax.lines[0]?.grossMinor).toBe(12000n);
  });
});

describe('exempt and reverse-charge customers are billed no tax, with a note', () => {
  test.each([
    ['exempt' as const, 'exempt'],
    ['reverse' as const, 'reverse_charge'],
  ])('%s', (treatment, note) => {
    const tax = taxInvoice([line(11900n, 'mwst'), line(1000n, 'vat')], [gross19, vat], treatment);
    expect(tax.note).toBe(note);
    expect(tax.rates).toEqual([]);
    expect([tax.exclusiveTaxMinor, tax.inclusiveTaxMinor]).toEqual([0n, 0n]);
    expect(tax.lines.map(({ netMinor, taxMinor }) => [netMinor, taxMinor])).toEqual([
      [11900n, 0n],
      [1000n, 0n],
    ]);
  });
});

describe('what cannot be taxed is refused', () => {
  test.each<[string, TaxableLine[], AppliedTaxRate[]]>([
    ['an unknown rate', [line(1n, 'none')], [vat]],
    ['a rate twice on a line', [line(1n, 'vat', 'vat')], [vat]],
    ['a rate given twice', [line(1n, 'vat')], [vat, vat]],
    ['a negative rate', [line(1n, 'vat')], [rate('vat', '-1')]],
  ])('%s', (_, lines, rates) => {
    expect(() => taxInvoice(lines, rates, 'none')).toThrow(InvariantError);
  });
});

describe('for any invoice', () => {
  const rates = [vat, rate('levy', '1.5'), gross19, rate('inclusive', '7.7', true)];
  const lines = fc.array(
    fc
      .record({
        amountMinor: fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }),
        taxRateIds: fc.subarray(rates.map(({ taxRateId }) => taxRateId)),
      })
      .map((given) => ({ ...given, lineId: 'il' })),
    { maxLength: 12 },
  );

  test('lines add up to the rates, inclusive tax changes nothing owed, a mirrored invoice mirrors', () => {
    fc.assert(
      fc.property(lines, (given) => {
        const tax = taxInvoice(given, rates, 'none');
        for (const { taxRateId, taxMinor } of tax.rates) {
          const shares = tax.lines
            .flatMap(({ shares }) => shares)
            .filter((share) => share.taxRateId === taxRateId);
          expect(shares.reduce((all, share) => all + share.taxMinor, 0n)).toBe(taxMinor);
        }
        tax.lines.forEach((taxed, index) => {
          const { amountMinor = 0n, taxRateIds = [] } = given[index] ?? {};
          expect(taxed.grossMinor).toBe(taxed.netMinor + taxed.taxMinor);
          if (taxRateIds.every((id) => id === 'mwst' || id === 'inclusive')) {
            expect(taxed.grossMinor).toBe(amountMinor);
          }
        });
        const mirrored = taxInvoice(
          given.map((one) => ({ ...one, amountMinor: -one.amountMinor })),
          rates,
          'none',
        );
        expect(mirrored.lines.map(({ grossMinor }) => -grossMinor)).toEqual(
          tax.lines.map(({ grossMinor }) => grossMinor),
        );
      }),
    );
  });

  test('two inclusive rates together never exceed the amount of a line', () => {
    const percentage = fc.constantFrom('1', '7.7', '19', '33.3', '60', '100', '250');
    const amounts = fc.array(fc.bigInt({ min: -4n, max: 6n }), { maxLength: 12 });
    fc.assert(
      fc.property(amounts, percentage, percentage, (given, first, second) => {
        const tax = taxInvoice(
          given.map((amount) => line(amount, 'a', 'b')),
          [rate('a', first, true), rate('b', second, true)],
          'none',
        );
        tax.lines.forEach(({ netMinor }, index) => {
          expect(netMinor * (given[index] ?? 0n)).toBeGreaterThanOrEqual(0n);
        });
      }),
      { numRuns: 2000 },
    );
  });

  test('the tax of a rate is within half a minor unit of its percentage of the net', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 0n, max: 10n ** 9n }), { maxLength: 12 }),
        (amounts) => {
          const tax = taxInvoice(
            amounts.map((amount) => line(amount, 'vat')),
            [vat],
            'none',
          );
          const net = amounts.reduce((all, one) => all + one, 0n);
          const missTimesTen = tax.exclusiveTaxMinor * 10n - net * 2n;
          expect(missTimesTen <= 5n && missTimesTen >= -5n).toBe(true);
        },
      ),
    );
  });
});
