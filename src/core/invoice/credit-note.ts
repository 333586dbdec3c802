import {
  add,
  lesserOf,
  overCommonDenominator,
  rational,
  roundToInteger,
  subtract,
  sum,
  ZERO,
  type Rational,
} from '../decimal';
import { invariant } from '../invariant';
import { allocate, allocateShares, lesser, nonNegative, total } from '../money';
import type { TaxShare } from '../tax';

/**
 * Amounts that can still be credited of several lines that are billed together. An example is a charge and the negative
 * line that lowers it to its maximum. The amounts can be negative.
 */
export type LeftTogether = {
  /** Net amount that can still be credited, without any tax. */
  readonly netMinor: bigint;
  /** Tax that can still be credited, with one share for each tax rate. */
  readonly taxShares: readonly TaxShare[];
};

/** A line of a finalized invoice, with the amounts that earlier credit notes have taken back. */
export type CreditableLine = {
  readonly lineId: string;
  /** Amount after discounts, without any tax. */
  readonly netMinor: bigint;
  readonly taxShares: readonly TaxShare[];
  readonly creditedNetMinor: bigint;
  readonly creditedTaxShares: readonly TaxShare[];
  /**
   * Amounts that can still be credited of this line and the lines billed together with it. All these lines share one
   * object.
   */
  readonly together: LeftTogether;
};

export type CreditNoteLine = {
  readonly lineId: string;
  readonly netMinor: bigint;
  readonly taxMinor: bigint;
  readonly taxShares: readonly TaxShare[];
};

export type CreditNoteAmounts = {
  readonly lines: readonly CreditNoteLine[];
  readonly netMinor: bigint;
  readonly taxMinor: bigint;
  readonly totalMinor: bigint;
};

type Left = { readonly netMinor: bigint; readonly tax: Rational };
type Part = {
  readonly line: CreditableLine;
  readonly netMinor: bigint;
  readonly exactTax: Rational;
};

/**
 * Collects the parts of lines that a credit note takes, in positive minor units. Each part lowers what later parts can
 * take.
 */
export class CreditNoteParts {
  private readonly parts = new Map<string, Part>();
  private readonly taken = new Map<LeftTogether, Left>();

  /**
   * Returns the amount of a line, without tax, that can still be credited. It is limited twice: to what is left of the
   * line, and to what is left of all lines billed together with it. Zero for a line that is itself a credit, and for a
   * line that the note already has.
   */
  creditableMinor(line: CreditableLine): bigint {
    return this.leftOf(line).netMinor;
  }

  /** Returns true if only tax can still be credited, for example of a line of 0.01 with 0.01 inclusive tax. */
  isOnlyTaxLeft(line: CreditableLine): boolean {
    const { netMinor, tax } = this.leftOf(line);
    return netMinor === 0n && tax.numerator > 0n;
  }

  /**
   * Takes `netMinor` of a line, and the same share of its tax, up to the tax that is left. Taking all the net amount
   * that is left also takes all the tax that is left. All credit notes together then credit exactly the billed tax. If
   * only tax is left, `netMinor` must be 0.
   * @throws InvariantError when `netMinor` is negative or above {@link creditableMinor}, or is zero although
   *   {@link isOnlyTaxLeft} returns false. The caller must first check amounts that come from an API client.
   */
  take(line: CreditableLine, netMinor: bigint): void {
    const left = this.leftOf(line);
    invariant(
      netMinor === 0n ? this.isOnlyTaxLeft(line) : netMinor > 0n && netMinor <= left.netMinor,
      'a credit note takes no more than is left of the line',
    );
    // The tax of earlier notes may have been rounded up. Then less tax is left than the exact share of this part.
    const exactTax =
      netMinor === left.netMinor
        ? left.tax
        : lesserOf(rational(taxOf(line.taxShares) * netMinor, line.netMinor), left.tax);
    this.parts.set(line.lineId, { line, netMinor, exactTax });
    const before = this.takenOf(line);
    this.taken.set(line.together, {
      netMinor: before.netMinor + netMinor,
      tax: add(before.tax, exactTax),
    });
  }

  /**
   * Returns the credit note. Its tax is the sum of the exact taxes of the parts, rounded once, half away from zero. The
   * rounded tax is split over lines and rates by largest remainder. It is at most the tax that is left of the invoice.
   * @param invoiceLines all lines of the invoice
   */
  amounts(invoiceLines: readonly CreditableLine[]): CreditNoteAmounts {
    const parts = [...this.parts.values()];
    const exactTaxes = parts.map(({ exactTax }) => exactTax);
    const { numerators, denominator } = overCommonDenominator(exactTaxes);
    const taxes = allocateShares(roundToInteger(sum(exactTaxes)), numerators, denominator);
    const mostMinor = this.largestTax(invoiceLines);
    return noteOf(parts, (index, takenMinor) => lesser(taxes[index] ?? 0n, mostMinor - takenMinor));
  }

  /**
   * Returns the maximum tax of the note: the tax that is left of the invoice. Lines billed together are added up, and a
   * negative sum counts as zero. A note that takes all net amounts also counts negative sums that rounding caused. For
   * example, a charge that was lowered to zero can be billed with a tax of -1.
   */
  private largestTax(invoiceLines: readonly CreditableLine[]): bigint {
    const groups = [...new Set(invoiceLines.map(({ together }) => together))];
    const isAll =
      this.taken.size > 0 &&
      groups.every((group) => group.netMinor <= (this.taken.get(group)?.netMinor ?? 0n));
    const taxes = groups.map((group) =>
      isAll && isCharge(group) ? taxLessNet(group) : taxLeftOf(group),
    );
    return nonNegative(total(taxes));
  }

  private leftOf(line: CreditableLine): Left {
    if (this.parts.has(line.lineId)) return { netMinor: 0n, tax: ZERO };
    const { together } = line;
    const taken = this.takenOf(line);
    return {
      netMinor: nonNegative(
        lesser(line.netMinor - line.creditedNetMinor, together.netMinor - taken.netMinor),
      ),
      tax: lesserOf(
        rational(total(taxLeftByRate(line))),
        subtract(rational(taxLeftOf(together)), taken.tax),
      ),
    };
  }

  private takenOf({ together }: CreditableLine): Left {
    return this.taken.get(together) ?? { netMinor: 0n, tax: ZERO };
  }
}

/**
 * Returns the credit note of everything that is left of an invoice. Omits lines of which nothing is left. The total of
 * the note is exactly what is left of the invoice. After rounding, a charge that was lowered to zero may have a tax of
 * -1. The note then credits 1 less on its last line with tax.
 */
export function creditNoteOfRest(lines: readonly CreditableLine[]): CreditNoteAmounts {
  const left = [...new Set(lines.map(({ together }) => together))];
  let restMinor = nonNegative(
    total(left.map(({ netMinor, taxShares }) => netMinor + taxOf(taxShares))),
  );
  const nets = new CreditNoteParts();
  const parts = lines.map((line) => {
    const netMinor = lesser(nets.creditableMinor(line), restMinor);
    if (netMinor > 0n) nets.take(line, netMinor);
    restMinor -= netMinor;
    return { line, netMinor };
  });
  const note = noteOf(parts, (_, takenMinor) => restMinor - takenMinor);
  return {
    ...note,
    lines: note.lines.filter((line) => line.netMinor > 0n || line.taxMinor > 0n),
  };
}

/**
 * Returns the credit note of these parts, with the tax split over the rates of each line.
 * @param taxOfPart returns the largest tax of a part, given its index and the tax of all parts before it
 */
function noteOf(
  parts: readonly Pick<Part, 'line' | 'netMinor'>[],
  taxOfPart: (index: number, takenMinor: bigint) => bigint,
): CreditNoteAmounts {
  const given = new Map<LeftTogether, readonly TaxShare[]>();
  let takenMinor = 0n;
  const lines = parts.map(({ line, netMinor }, index): CreditNoteLine => {
    const before = given.get(line.together) ?? [];
    const taxShares = splitOverRates(line, taxOfPart(index, takenMinor), before);
    const taxMinor = taxOf(taxShares);
    given.set(line.together, [...before, ...taxShares]);
    takenMinor += taxMinor;
    return { lineId: line.lineId, netMinor, taxMinor, taxShares };
  });
  const netMinor = total(lines.map((line) => line.netMinor));
  return { lines, netMinor, taxMinor: takenMinor, totalMinor: netMinor + takenMinor };
}

/**
 * Splits the tax of a part over the rates of its line, in proportion to the tax that is left at each rate. The shares
 * add up to less than `taxMinor` if less tax is left, at these rates or of all lines billed together.
 * @param given tax that the note already takes from lines billed together with the line
 */
function splitOverRates(
  line: CreditableLine,
  taxMinor: bigint,
  given: readonly TaxShare[],
): TaxShare[] {
  const leftByRate = taxLeftByRate(line, given);
  const most = lesser(total(leftByRate), taxLeftOf(line.together) - taxOf(given));
  const parts = allocate(lesser(taxMinor, most), leftByRate);
  return line.taxShares.map(({ taxRateId }, index) => ({
    taxRateId,
    taxMinor: parts[index] ?? 0n,
  }));
}

/** Returns the tax that is left at each rate of a line, in the order of its rates. */
function taxLeftByRate(line: CreditableLine, given: readonly TaxShare[] = []): bigint[] {
  const of = (shares: readonly TaxShare[], rate: string): bigint =>
    taxOf(shares.filter(({ taxRateId }) => taxRateId === rate));
  return line.taxShares.map(({ taxRateId, taxMinor }) =>
    nonNegative(
      lesser(
        taxMinor - of(line.creditedTaxShares, taxRateId),
        of(line.together.taxShares, taxRateId) - of(given, taxRateId),
      ),
    ),
  );
}

/**
 * Returns the tax that can still be credited of lines billed together, at least zero. Negative taxes and a negative net
 * amount lower it. For example, a net amount of -1 with an inclusive tax of 1 leaves nothing.
 */
function taxLeftOf(group: LeftTogether): bigint {
  return nonNegative(taxLessNet(group));
}

/** Returns the sum of the taxes, lowered by the net amount if that is negative. */
function taxLessNet({ netMinor, taxShares }: LeftTogether): bigint {
  return taxOf(taxShares) + lesser(netMinor, 0n);
}

/**
 * Returns true if the lines are a charge, false if they are a credit. Rounding of inclusive tax can leave a charge with
 * a slightly negative net amount, such as -1 with a tax of 1. The net amount of a credit is lower.
 */
function isCharge({ netMinor, taxShares }: LeftTogether): boolean {
  return netMinor + total(taxShares.map(({ taxMinor }) => nonNegative(taxMinor))) >= 0n;
}

function taxOf(shares: readonly TaxShare[]): bigint {
  return total(shares.map(({ taxMinor }) => taxMinor));
}
