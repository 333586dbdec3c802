import fc from 'fast-check';
import {
  assembleInvoice,
  type AssembledInvoice,
  type CreditableLine,
  type CreditNoteAmounts,
  creditNoteOfRest,
  CreditNoteParts,
} from './index';

interface Terms {
  /** Amounts of the lines of each charge, and its maximum or null. */
  readonly charges: readonly (readonly [amounts: readonly bigint[], maximumMinor: bigint | null])[];
  readonly rates: readonly (readonly [percentage: string, inclusive: boolean])[];
  /** A coupon for the first charge; null for none. */
  readonly percentOff: string | null;
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n);
const taxOf = (shares: CreditableLine['taxShares']): bigint =>
  sumOf(shares.map(({ taxMinor }) => taxMinor));
/** Line ids are the place of the charge, a point, and the place of the line. */
const chargeOf = ({ lineId }: { readonly lineId: string }): string => lineId.split('.')[0] ?? '';

function bill({ charges, rates, percentOff }: Terms): AssembledInvoice {
  const taxRates = rates.map(([percentage, inclusive], place) => ({
    taxRateId: `rate ${place}`,
    percentage,
    inclusive,
  }));
  const taxRateIds = taxRates.map(({ taxRateId }) => taxRateId);
  const lineIdsOf = (place: number) => charges[place]?.[0].map((_, index) => `${place}.${index}`);
  return assembleInvoice({
    currency: 'USD',
    lines: charges.flatMap(([amounts], place) =>
      amounts.map((amountMinor, index) => ({
        lineId: `${place}.${index}`,
        kind: 'usage' as const,
        amountMinor,
        currency: 'USD',
        taxRateIds,
      })),
    ),
    commitments: charges.map(([, maximumMinor], place) => ({
      lineId: `${place}.maximum`,
      countedLineIds: new Set(lineIdsOf(place)),
      alreadyBilledMinor: 0n,
      minimumMinor: null,
      maximumMinor,
      proration: null,
      taxRateIds,
    })),
    coupons: (percentOff === null ? [] : [percentOff]).map((percent) => ({
      redemptionId: 'red_1',
      redeemedAt: new Date(0),
      duration: 'once',
      lineIds: new Set(lineIdsOf(0)),
      off: { type: 'percent', percentOff: percent },
    })),
    taxRates,
    taxTreatment: 'none',
    creditGrants: [],
  });
}

/** Returns the lines of an invoice as these credit notes left them. */
function after(invoice: AssembledInvoice, notes: readonly CreditNoteAmounts[]): CreditableLine[] {
  const taken = notes.flatMap(({ lines }) => lines);
  const lines = invoice.lines.map(({ lineId, netMinor, taxShares }) => {
    const parts = taken.filter((part) => part.lineId === lineId);
    return {
      lineId,
      netMinor,
      taxShares,
      creditedNetMinor: sumOf(parts.map((part) => part.netMinor)),
      creditedTaxShares: parts.flatMap((part) => part.taxShares),
    };
  });
  const charges = [...new Set(lines.map(chargeOf))];
  return charges.flatMap((charge) => {
    const own = lines.filter((line) => chargeOf(line) === charge);
    const credited = own.flatMap(({ creditedTaxShares }) => creditedTaxShares);
    const billed = own.flatMap(({ taxShares }) => taxShares);
    const taxAt = (rate: string, shares: CreditableLine['taxShares']): bigint =>
      taxOf(shares.filter(({ taxRateId }) => taxRateId === rate));
    const together = {
      netMinor: sumOf(own.map((line) => line.netMinor - line.creditedNetMinor)),
      taxShares: [...new Set(billed.map(({ taxRateId }) => taxRateId))].map((taxRateId) => ({
        taxRateId,
        taxMinor: taxAt(taxRateId, billed) - taxAt(taxRateId, credited),
      })),
    };
    return own.map((line) => ({ ...line, together }));
  });
}

/** Returns false if notes took more net amount, or more tax, of a charge than it was billed with. */
function isWithin(lines: readonly CreditableLine[]): boolean {
  return lines.every(({ together: { netMinor, taxShares }, ...line }) => {
    const own = lines.filter((one) => chargeOf(one) === chargeOf(line));
    const isNetTaken = own.some((one) => one.creditedNetMinor > 0n);
    const isTaxTaken = own.some((one) => taxOf(one.creditedTaxShares) > 0n);
    return (netMinor >= 0n || !isNetTaken) && (taxOf(taxShares) >= 0n || !isTaxTaken);
  });
}

const amounts = (most: bigint) => fc.bigInt({ min: 1n, max: most });
const charge = fc.oneof(
  fc.tuple(fc.array(amounts(60n), { minLength: 1, maxLength: 3 }), fc.bigInt({ min: 0n, max: 9n })),
  fc.tuple(fc.array(amounts(1500n), { minLength: 1, maxLength: 3 }), fc.option(amounts(400n))),
);
const rate = fc.tuple(fc.constantFrom('19', '7', '1', '5', '20', '8.875'), fc.boolean());
const terms: fc.Arbitrary<Terms> = fc.record({
  charges: fc.array(charge, { minLength: 1, maxLength: 5 }),
  rates: fc.array(rate, { minLength: 1, maxLength: 2 }),
  percentOff: fc.option(fc.constantFrom('100', '99', '50')),
});
/** Partial notes: the place of a line or null for all lines, and the most net amount to take of each. */
const orders = fc.array(fc.tuple(fc.option(fc.nat({ max: 15 })), amounts(600n)), { maxLength: 12 });

/** The first charge has a net amount of -1, an inclusive tax of 1 and an exclusive tax of -1. */
const NET_BELOW_ZERO: Terms = {
  charges: [
    [[40n, 34n], 0n],
    [[45n, 1n], 1n],
    [[20n], 3n],
  ],
  rates: [
    ['1', false],
    ['19', true],
  ],
  percentOff: null,
};

test('a note of all net amounts takes at most the tax that is left of the invoice', () => {
  fc.assert(
    fc.property(terms, orders, (given, partial) => {
      const invoice = bill(given);
      const notes: CreditNoteAmounts[] = [];
      const leftMinor = () => invoice.totalMinor - sumOf(notes.map(({ totalMinor }) => totalMinor));
      for (const [place, mostMinor] of [...partial, [null, 10_000n] as const]) {
        const parts = new CreditNoteParts();
        const lines = after(invoice, notes);
        for (const [index, line] of lines.entries()) {
          if (place !== null && place !== index) continue;
          const creditable = parts.creditableMinor(line);
          const netMinor = creditable < mostMinor ? creditable : mostMinor;
          if (netMinor > 0n) parts.take(line, netMinor);
        }
        const note = parts.amounts(lines);
        if (mostMinor === 10_000n) {
          expect(note.totalMinor <= leftMinor() || note.taxMinor === 0n).toBe(true);
        }
        if (note.totalMinor <= leftMinor()) notes.push(note);
        expect(isWithin(after(invoice, notes))).toBe(true);
      }
    }),
    { numRuns: 300, examples: [[NET_BELOW_ZERO, []]] },
  );
});

test('the note of the rest of an invoice, after any notes, has the total that is left', () => {
  fc.assert(
    fc.property(terms, orders, (given, partial) => {
      const invoice = bill(given);
      const notes: CreditNoteAmounts[] = [];
      const leftMinor = () => invoice.totalMinor - sumOf(notes.map(({ totalMinor }) => totalMinor));
      for (const [place, mostMinor] of partial) {
        const parts = new CreditNoteParts();
        const lines = after(invoice, notes);
        for (const [index, line] of lines.entries()) {
          if (place !== null && place !== index) continue;
          const creditable = parts.creditableMinor(line);
          const netMinor = creditable < mostMinor ? creditable : mostMinor;
          if (netMinor > 0n || parts.isOnlyTaxLeft(line)) parts.take(line, netMinor);
        }
        const note = parts.amounts(lines);
        // The API refuses a note with a part that takes nothing.
        const isTaken = note.lines.every(({ netMinor, taxMinor }) => netMinor + taxMinor > 0n);
        if (isTaken && note.totalMinor <= leftMinor()) notes.push(note);
        expect(isWithin(after(invoice, notes))).toBe(true);
      }
      notes.push(creditNoteOfRest(after(invoice, notes)));
      expect(leftMinor()).toBe(0n);
      expect(isWithin(after(invoice, notes))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
