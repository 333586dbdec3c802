import { invariant } from '../../../core/invariant';
import type { AssembledInvoice } from '../../../core/invoice';
import { correctedDiscounts } from './corrected-discounts';
import { evaluateInvoice, type InvoiceTotals, totalsOf } from './decide-invoice';
import type { Invoice, InvoiceLine } from './invoice';
import { evaluate } from './trace';

export interface Explanation {
  readonly line: InvoiceLine;
  readonly evaluated: { readonly amount: bigint; readonly discount: bigint; readonly tax: bigint };
  /** True if all amounts equal the stored amounts. */
  readonly matches: boolean;
}

export interface InvoiceExplanation {
  readonly invoice: Invoice;
  readonly lines: readonly Explanation[];
  readonly evaluated: InvoiceTotals;
  /** True if all amounts equal the stored amounts. */
  readonly matches: boolean;
}

/**
 * Calculates all amounts of an invoice again. The amount of each line is calculated from its trace (the stored price
 * and steps).
 */
export function explain(invoice: Invoice): InvoiceExplanation {
  const assembled = evaluateInvoice(invoice);
  const byId = new Map(assembled.lines.map((line) => [line.lineId, line]));
  const lines = invoice.lines.map((line) => {
    const { trace } = line;
    const again = byId.get(line.id);
    invariant(again !== undefined, 'every line is assembled again');
    const evaluated = {
      // The assembly calculates a true-up from the other lines, not from its trace.
      amount: trace.kind === 'true_up' ? evaluate(trace) : again.amountMinor,
      discount: again.discountMinor,
      tax: again.taxMinor,
    };
    const matches =
      evaluated.amount === line.amount &&
      evaluated.discount === line.discount &&
      evaluated.tax === line.tax;
    return { line, evaluated, matches };
  });
  const evaluated = totalsOf(assembled);
  const matches =
    totalNamesOf(evaluated).every((name) => evaluated[name] === invoice[name]) &&
    lines.every((line) => line.matches) &&
    sharesMatch(invoice, assembled);
  return { invoice, lines, evaluated, matches };
}

function totalNamesOf(totals: InvoiceTotals): readonly (keyof InvoiceTotals)[] {
  return Object.keys(totals) as (keyof InvoiceTotals)[];
}

function sharesMatch({ coupons, taxRates, lines }: Invoice, assembled: AssembledInvoice): boolean {
  const discounts = new Map(
    assembled.coupons.map(({ redemptionId, amountMinor }) => [redemptionId, amountMinor]),
  );
  const corrected = correctedDiscounts(lines);
  const taxes = new Map(assembled.taxRates.map((rate) => [rate.taxRateId, rate]));
  return (
    coupons.every(({ redemptionId, correctedFrom, amountMinor }) =>
      correctedFrom === undefined
        ? amountMinor === (discounts.get(redemptionId) ?? 0n)
        : amountMinor ===
          corrected
            .filter((one) => one.redemptionId === redemptionId)
            .filter(({ billedFrom }) => billedFrom?.getTime() === correctedFrom?.getTime())
            .reduce((total, { takenMinor }) => total + takenMinor, 0n),
    ) &&
    taxRates.every(({ taxRateId, taxableMinor, taxMinor }) => {
      const again = taxes.get(taxRateId);
      return taxableMinor === (again?.taxableMinor ?? 0n) && taxMinor === (again?.taxMinor ?? 0n);
    })
  );
}
