import { invariant } from '../../../core/invariant';
import { evaluateInvoice } from './decide-invoice';
import type { Invoice, InvoiceLine } from './invoice';
import { evaluate } from './trace';

/** A line, and what comes of its trace when it is evaluated again. */
export interface Explanation {
  readonly invoice: Invoice;
  readonly line: InvoiceLine;
  readonly evaluated: { readonly amount: bigint; readonly discount: bigint; readonly tax: bigint };
  /** True if all three equal the stored amounts. */
  readonly matches: boolean;
}

/** Explains a line. Its trace gives its amount; the invoice, assembled again, gives its discount and its tax. */
export function explain(invoice: Invoice, line: InvoiceLine): Explanation {
  const assembled = evaluateInvoice(invoice).lines.find(({ lineId }) => lineId === line.id);
  invariant(assembled !== undefined, 'every line is assembled again');
  const evaluated = {
    amount: evaluate(line.trace),
    discount: assembled.discountMinor,
    tax: assembled.taxMinor,
  };
  const matches =
    evaluated.amount === line.amount &&
    evaluated.discount === line.discount &&
    evaluated.tax === line.tax;
  return { invoice, line, evaluated, matches };
}
