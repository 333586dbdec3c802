import {
  add,
  compare,
  divide,
  multiply,
  parseDecimal,
  rational,
  sum,
  ZERO,
  type Rational,
} from '../decimal';
import { invariant } from '../invariant';
import { total } from '../money';
import { splitByExactTaxes, withinAmounts } from './split';

export type AppliedTaxRate = {
  readonly taxRateId: string;
  /** Percentage as a decimal string: `"20"` is a fifth. */
  readonly percentage: string;
  /** True if line amounts include this tax. */
  readonly inclusive: boolean;
};

/** A line after discounts, with its tax rates. The amount of a credit is negative. */
export type TaxableLine = {
  readonly lineId: string;
  readonly amountMinor: bigint;
  readonly taxRateIds: readonly string[];
  /**
   * Exact tax by tax rate id, for a line that keeps the tax of an earlier bill; negative for a credit. This tax
   * replaces the calculated tax of the rates in `taxRateIds`. It stays even if the customer is exempt.
   */
  readonly exactTaxes?: ReadonlyMap<string, Rational>;
};

/**
 * Tax status of the customer. `none`: no special status, so tax is charged. `exempt` and `reverse` (reverse charge):
 * billed without tax, and a note on the invoice says so.
 */
export type TaxTreatment = 'none' | 'exempt' | 'reverse';

export type TaxShare = { readonly taxRateId: string; readonly taxMinor: bigint };

export type TaxedLine = {
  readonly lineId: string;
  /** Amount without any tax: the line's amount less the inclusive tax in it. */
  readonly netMinor: bigint;
  /** Sum of the taxes of all rates, inclusive and exclusive. */
  readonly taxMinor: bigint;
  /** Net amount and tax: what the customer owes for the line. */
  readonly grossMinor: bigint;
  readonly shares: readonly TaxShare[];
};

export type TaxRateTotal = TaxShare & {
  /** Net amount of all lines that have this rate. */
  readonly taxableMinor: bigint;
};

export type InvoiceTax = {
  readonly lines: readonly TaxedLine[];
  readonly rates: readonly TaxRateTotal[];
  readonly exclusiveTaxMinor: bigint;
  readonly inclusiveTaxMinor: bigint;
  readonly note: 'exempt' | 'reverse_charge' | null;
};

/**
 * Calculates the tax of an invoice.
 * - For each rate, the exact taxes of its lines are added up, rounded once, half away from zero, and split over these
 *   lines by largest remainder.
 * - Inclusive tax is part of the line's amount: net = amount / (1 + sum of the inclusive rates). If the inclusive taxes
 *   of a line would exceed its amount, {@link withinAmounts} moves a minor unit of tax to another line.
 * - Exclusive rates apply to the net amount and do not compound.
 * - An exempt or reverse-charge customer owes the amounts unchanged, without tax, and the result has a note. Lines with
 *   `exactTaxes` keep these taxes even then.
 * @throws InvariantError when a line names an unknown rate or names one rate twice, a rate is given twice, or a
 *   percentage is negative.
 */
export function taxInvoice(
  given: readonly TaxableLine[],
  rates: readonly AppliedTaxRate[],
  treatment: TaxTreatment,
): InvoiceTax {
  const lines = treatment === 'none' ? given : given.map(withoutTax);
  assertRatesKnown(lines, rates);
  const used = rates.filter(({ taxRateId }) =>
    lines.some(({ taxRateIds }) => taxRateIds.includes(taxRateId)),
  );
  const exactTaxes = lines.map(
    (line) => line.exactTaxes ?? exactTaxesOf(line.amountMinor, ratesOf(line, used)),
  );
  const splits = withinAmounts(
    lines.map(({ amountMinor }) => amountMinor),
    used.map(({ taxRateId, inclusive }) => {
      const ofRate = lines.map(({ taxRateIds }, index) =>
        taxRateIds.includes(taxRateId) ? (exactTaxes[index]?.get(taxRateId) ?? ZERO) : ZERO,
      );
      return splitByExactTaxes(inclusive, ofRate);
    }),
  );
  const partsByRate = new Map(
    used.map(({ taxRateId }, index) => [taxRateId, splits[index]?.partsMinor ?? []] as const),
  );

  const taxed = lines.map((line, index) => taxLine(line, index, used, partsByRate));
  const totals = used.map(({ taxRateId }): TaxRateTotal => {
    const carrying = taxed.filter((_, index) => lines[index]?.taxRateIds.includes(taxRateId));
    return {
      taxRateId,
      taxableMinor: total(carrying.map(({ netMinor }) => netMinor)),
      taxMinor: total(partsByRate.get(taxRateId) ?? []),
    };
  });
  const taxOf = (inclusive: boolean) =>
    total(totals.filter((_, index) => used[index]?.inclusive === inclusive).map(taxMinorOf));
  const result: InvoiceTax = {
    lines: taxed,
    rates: totals,
    exclusiveTaxMinor: taxOf(false),
    inclusiveTaxMinor: taxOf(true),
    note: NOTES[treatment],
  };
  assertAddsUp(result, lines);
  return result;
}

const NOTES = { none: null, exempt: 'exempt', reverse: 'reverse_charge' } as const;

function withoutTax(line: TaxableLine): TaxableLine {
  return line.exactTaxes === undefined ? { ...line, taxRateIds: [] } : line;
}

function assertRatesKnown(lines: readonly TaxableLine[], rates: readonly AppliedTaxRate[]): void {
  const known = new Set(rates.map(({ taxRateId }) => taxRateId));
  invariant(known.size === rates.length, 'a tax rate is given once');
  for (const { percentage } of rates) {
    invariant(compare(parseDecimal(percentage), ZERO) >= 0, 'a tax rate is not negative');
  }
  for (const { taxRateIds } of lines) {
    invariant(new Set(taxRateIds).size === taxRateIds.length, 'a line carries a rate once');
    invariant(
      taxRateIds.every((taxRateId) => known.has(taxRateId)),
      'a line names known tax rates',
    );
  }
}

/** Returns the rates of a line, in the order of `rates`. */
function ratesOf(
  { taxRateIds }: TaxableLine,
  rates: readonly AppliedTaxRate[],
): readonly AppliedTaxRate[] {
  return rates.filter(({ taxRateId }) => taxRateIds.includes(taxRateId));
}

/** Returns the exact tax by rate id. `amountMinor` is the amount after discounts, and contains the inclusive taxes. */
export function exactTaxesOf(
  amountMinor: bigint,
  rates: readonly AppliedTaxRate[],
): ReadonlyMap<string, Rational> {
  const within = sum(rates.filter(({ inclusive }) => inclusive).map(fractionOf));
  const net = divide(rational(amountMinor), add(rational(1n), within));
  return new Map(rates.map((rate) => [rate.taxRateId, multiply(net, fractionOf(rate))]));
}

function taxLine(
  line: TaxableLine,
  index: number,
  rates: readonly AppliedTaxRate[],
  partsByRate: ReadonlyMap<string, readonly bigint[]>,
): TaxedLine {
  const carried = ratesOf(line, rates);
  const shareOf = ({ taxRateId }: AppliedTaxRate): TaxShare => ({
    taxRateId,
    taxMinor: partsByRate.get(taxRateId)?.[index] ?? 0n,
  });
  const shares = carried.map(shareOf);
  const taxMinor = total(shares.map(taxMinorOf));
  const inclusive = carried.filter((rate) => rate.inclusive);
  const netMinor = line.amountMinor - total(inclusive.map(shareOf).map(taxMinorOf));
  return { lineId: line.lineId, netMinor, taxMinor, grossMinor: netMinor + taxMinor, shares };
}

function assertAddsUp(tax: InvoiceTax, lines: readonly TaxableLine[]): void {
  const amountMinor = total(lines.map((line) => line.amountMinor));
  const taxMinor = total(tax.lines.map((line) => line.taxMinor));
  const grossMinor = total(tax.lines.map((line) => line.grossMinor));
  invariant(
    taxMinor === tax.exclusiveTaxMinor + tax.inclusiveTaxMinor,
    'tax on lines adds up to the tax of the rates',
  );
  invariant(
    grossMinor === amountMinor + tax.exclusiveTaxMinor,
    'the gross total is the line amounts plus exclusive tax',
  );
}

function fractionOf({ percentage }: AppliedTaxRate): Rational {
  return divide(parseDecimal(percentage), rational(100n));
}

function taxMinorOf({ taxMinor }: TaxShare): bigint {
  return taxMinor;
}
