import {
  lesserOf,
  overCommonDenominator,
  rational,
  roundToInteger,
  sum,
  type Rational,
} from '../decimal';
import { invariant } from '../invariant';
import { allocate, allocateShares, nonNegative, total } from '../money';
import type { TaxShare } from '../tax';

/** A line of a finalized invoice, with the amounts that earlier credit notes have taken back. */
export type CreditableLine = {
  readonly lineId: string;
  /** Amount after discounts, without any tax. */
  readonly netMinor: bigint;
  readonly taxShares: readonly TaxShare[];
  readonly creditedNetMinor: bigint;
  readonly creditedTaxShares: readonly TaxShare[];
};

/** Amount to credit on a line, without tax; zero only if {@link isOnlyTaxLeft} returns true for the line. */
export type CreditRequest = { readonly lineId: string; readonly netMinor: bigint };

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

/** Returns the amount of a line, without tax, that can still be credited; zero for a line that is itself a credit. */
export function creditableMinor(line: CreditableLine): bigint {
  return nonNegative(line.netMinor - line.creditedNetMinor);
}

/** Returns true if a line has tax left to credit, but no net amount, such as a line of 0.01 with 0.01 inclusive tax. */
export function isOnlyTaxLeft(line: CreditableLine): boolean {
  return creditableMinor(line) === 0n && taxOf(line.taxShares) > taxOf(line.creditedTaxShares);
}

/**
 * Returns the credit note for parts of lines, in positive minor units. The exact taxes of the requested net amounts are
 * added up, rounded once, half away from zero, and split over lines and rates by largest remainder. A request for the
 * whole rest of a line also credits the whole rest of its tax, so that the credit notes of a line together credit
 * exactly its tax. If a line has only tax left, a request for zero credits this tax.
 * @throws InvariantError when a line is requested twice or is unknown, an amount is negative or above
 *   {@link creditableMinor}, or zero is requested although {@link isOnlyTaxLeft} returns false. The caller must first
 *   check amounts that come from an API client.
 */
export function creditNote(
  requests: readonly CreditRequest[],
  lines: readonly CreditableLine[],
): CreditNoteAmounts {
  invariant(
    new Set(requests.map(({ lineId }) => lineId)).size === requests.length,
    'a credit note names a line once',
  );
  const asked = requests.map(({ lineId, netMinor }) => {
    const line = lines.find((candidate) => candidate.lineId === lineId);
    invariant(line !== undefined, 'a credit note names lines of its invoice');
    invariant(
      netMinor === 0n ? isOnlyTaxLeft(line) : netMinor > 0n && netMinor <= creditableMinor(line),
      'a credit note takes no more than is left of the line',
    );
    return { line, netMinor };
  });

  const exactTaxes = asked.map(({ line, netMinor }) => exactTax(line, netMinor));
  const { numerators, denominator } = overCommonDenominator(exactTaxes);
  const taxes = allocateShares(roundToInteger(sum(exactTaxes)), numerators, denominator);
  const noteLines = asked.map(({ line, netMinor }, index): CreditNoteLine => {
    const taxMinor = taxes[index] ?? 0n;
    const taxShares = splitOverRates(line, taxMinor);
    return { lineId: line.lineId, netMinor, taxMinor, taxShares };
  });
  const netMinor = total(noteLines.map((line) => line.netMinor));
  const taxMinor = total(noteLines.map((line) => line.taxMinor));
  return { lines: noteLines, netMinor, taxMinor, totalMinor: netMinor + taxMinor };
}

/** Returns the exact tax to credit with a part of a line: at most the tax that is left, all of it for the last part. */
function exactTax(line: CreditableLine, netMinor: bigint): Rational {
  const taxMinor = taxOf(line.taxShares);
  const left = rational(taxMinor - taxOf(line.creditedTaxShares));
  // The tax of earlier notes may have been rounded up. Then less tax is left than the exact share of this part.
  return netMinor === creditableMinor(line)
    ? left
    : lesserOf(rational(taxMinor * netMinor, line.netMinor), left);
}

function splitOverRates(line: CreditableLine, taxMinor: bigint): TaxShare[] {
  const leftByRate = line.taxShares.map((share) => {
    const credited = line.creditedTaxShares.filter(
      ({ taxRateId }) => taxRateId === share.taxRateId,
    );
    return share.taxMinor - taxOf(credited);
  });
  invariant(
    leftByRate.every((left) => left >= 0n) && taxMinor <= total(leftByRate),
    'a rate is never credited beyond the tax it took',
  );
  const parts = allocate(taxMinor, leftByRate);
  return line.taxShares.map(({ taxRateId }, index) => ({
    taxRateId,
    taxMinor: parts[index] ?? 0n,
  }));
}

function taxOf(shares: readonly TaxShare[]): bigint {
  return total(shares.map(({ taxMinor }) => taxMinor));
}
