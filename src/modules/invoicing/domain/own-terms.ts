import { multiply, rational } from '../../../core/decimal';
import { type InvoiceContents, taxOfPart } from '../../../core/invoice';
import { exactTaxesOf, type TaxTreatment } from '../../../core/tax';
import { addedDiscounts, type BilledBy, type InvoiceRateTerms } from './billed-by';
import type { HeldTerms } from './held-terms';
import type { Invoice, InvoiceLine } from './invoice';
import type { LineTrace } from './trace';

type OwnTerms = Partial<
  Pick<InvoiceContents['lines'][number], 'exactTaxes' | 'fixedDiscounts' | 'taxRateIds'>
>;

/**
 * Returns the discounts and taxes that a line keeps from an earlier bill; empty if it keeps none. A credit takes back
 * the tax that the credited lines were billed with. Usage that is added to a bill is discounted and taxed like that
 * bill, not by the customer's present coupons and rates.
 */
export function ownTermsOf(trace: LineTrace, amountMinor: bigint): OwnTerms {
  const added = amountMinor > 0n ? billedByOf(trace) : undefined;
  if (added !== undefined) {
    const fixedDiscounts = addedDiscounts(amountMinor, added)
      .filter((one) => one.amountMinor > 0n)
      .map(({ redemptionId, amountMinor: discountMinor }) => {
        return { redemptionId, amountMinor: discountMinor };
      });
    const discountedMinor = fixedDiscounts.reduce(
      (leftMinor, one) => leftMinor - one.amountMinor,
      amountMinor,
    );
    const exactTaxes = exactTaxesOf(discountedMinor, added.taxes);
    return { fixedDiscounts, exactTaxes, taxRateIds: [...exactTaxes.keys()] };
  }
  const held = amountMinor > 0n ? undefined : heldBy(trace);
  if (held === undefined) return {};
  const taxes = taxOfPart(held, -amountMinor);
  const exactTaxes = new Map(
    [...taxes].map(([taxRateId, tax]) => [taxRateId, multiply(tax, rational(-1n))] as const),
  );
  return { exactTaxes, taxRateIds: [...exactTaxes.keys()] };
}

/** Returns the tax rates that a line keeps from an earlier bill; empty if it keeps none. */
export function ownRatesOf(trace: LineTrace): readonly InvoiceRateTerms[] {
  return billedByOf(trace)?.taxes ?? heldBy(trace)?.taxes ?? [];
}

/**
 * Returns the tax treatment that an invoice prints as a note. Charges of one invoice can have different treatments,
 * because usage that is added to an earlier bill keeps the treatment of that bill. If some charges are under reverse
 * charge and others exempt, returns reverse charge, which an invoice must state. Without charges, returns the treatment
 * of the invoice.
 */
export function printedTaxTreatment({
  lines,
  taxTreatment,
}: Pick<Invoice, 'lines' | 'taxTreatment'>): TaxTreatment {
  const treatments = lines.flatMap(({ trace }): readonly TaxTreatment[] => {
    const added = billedByOf(trace);
    if (added !== undefined) return [added.taxTreatment];
    return heldBy(trace) === undefined ? [taxTreatment] : [];
  });
  const stated = treatments.length === 0 ? [taxTreatment] : treatments;
  return (['reverse', 'exempt'] as const).find((one) => stated.includes(one)) ?? 'none';
}

/**
 * Returns true if tax was calculated for a line: if the tax treatment of the invoice is `none` (neither exempt nor
 * reverse charge), or if the line keeps tax rates of an earlier bill.
 */
export function isTaxed({ trace }: InvoiceLine, { taxTreatment }: Invoice): boolean {
  return taxTreatment === 'none' || ownRatesOf(trace).length > 0;
}

function billedByOf(trace: LineTrace): BilledBy | undefined {
  return trace.kind === 'usage' ? trace.corrects?.billedBy : undefined;
}

function heldBy(trace: LineTrace): HeldTerms | undefined {
  if (trace.kind === 'credit') return trace.held;
  return trace.kind === 'usage' ? trace.corrects?.held : undefined;
}
