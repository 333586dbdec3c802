import { invariant } from '../../../core/invariant';
import type { AssembledInvoice } from '../../../core/invoice';
import { correctedDiscounts } from './corrected-discounts';
import { evaluateInvoice } from './decide-invoice';
import type { Invoice, InvoiceLine } from './invoice';
import { evaluate } from './trace';

/** A line, and its amounts as calculated again from its trace. */
export interface Explanation {
  readonly line: InvoiceLine;
  readonly evaluated: { readonly amount: bigint; readonly discount: bigint; readonly tax: bigint };
  /** True if amount, discount and tax equal the stored amounts. */
  readonly matches: boolean;
}

const TOTALS = [
  'subtotal',
  'discount',
  'tax',
  'inclusiveTax',
  'total',
  'creditApplied',
  'creditedToBalance',
  'amountDue',
] as const;

/** Amounts of an invoice that are calculated from its lines, coupons, tax rates and credits. */
export type InvoiceTotals = Pick<Invoice, (typeof TOTALS)[number]>;

/** An invoice, and its totals as calculated again from its lines, coupons, tax rates and credits. */
export interface InvoiceExplanation {
  readonly invoice: Invoice;
  /** Explanations of the lines, in the order of the invoice. */
  readonly lines: readonly Explanation[];
  readonly evaluated: InvoiceTotals;
  /** True if the totals and all lines, coupons and rates equal the stored amounts. */
  readonly matches: boolean;
}

/**
 * Calculates an invoice again: the amount of each line from its trace, and the other amounts from all lines together.
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
    TOTALS.every((name) => evaluated[name] === invoice[name]) &&
    lines.every((line) => line.matches) &&
    sharesMatch(invoice, assembled);
  return { invoice, lines, evaluated, matches };
}

function totalsOf(assembled: AssembledInvoice): InvoiceTotals {
  return {
    subtotal: assembled.subtotalMinor,
    discount: assembled.discountMinor,
    tax: assembled.exclusiveTaxMinor,
    inclusiveTax: assembled.inclusiveTaxMinor,
    total: assembled.totalMinor,
    creditApplied: assembled.creditAppliedMinor,
    creditedToBalance: assembled.creditedToBalanceMinor,
    amountDue: assembled.amountDueMinor,
  };
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
