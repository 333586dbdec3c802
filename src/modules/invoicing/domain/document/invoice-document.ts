import { isolated, printableText } from '../../../../core/text';
import { lastLocalDateOf, localDateOn, type Period } from '../../../../core/time';
import { amountRemaining, type Invoice, type InvoiceLine, type InvoiceTaxRate } from '../invoice';
import type { Buyer, Seller } from '../invoice-snapshots';
import { isTaxed, printedTaxTreatment } from '../own-terms';
import { formatAmount, formatQuantity, formatUnitPrice } from './figures';

export interface Party {
  readonly name: string | null;
  readonly details: readonly string[];
}

export interface DocumentLine {
  readonly description: string;
  /** First and last day of service; null for a line without a period. */
  readonly period: string | null;
  readonly quantity: string;
  readonly unitPrice: string;
  readonly discount: string;
  readonly taxRates: string;
  readonly amount: string;
}

export interface DocumentTotal {
  readonly label: string;
  readonly amount: string;
  readonly weight: 'plain' | 'strong' | 'quiet';
}

/** Printed texts of an invoice, in reading order. */
export interface InvoiceDocument {
  readonly title: string;
  readonly fileName: string;
  /** Creation time in the PDF. Taken from the invoice, so that a PDF of the same invoice always has the same bytes. */
  readonly createdAt: Date;
  readonly stamp: 'PAID' | 'VOID' | null;
  readonly seller: Party;
  readonly buyer: Party;
  readonly details: readonly { readonly label: string; readonly value: string }[];
  readonly currency: string;
  readonly lines: readonly DocumentLine[];
  readonly totals: readonly DocumentTotal[];
  readonly notes: readonly string[];
}

/**
 * Returns the printed texts of an invoice. Dates are in the time zone of the buyer, periods in that of the
 * subscription.
 */
export function toInvoiceDocument(invoice: Invoice, buyer: Buyer, seller: Seller): InvoiceDocument {
  return {
    title: invoice.number === null ? 'Draft invoice' : `Invoice ${printableText(invoice.number)}`,
    fileName: (invoice.number ?? invoice.id).replaceAll(/[^\w.-]/g, '-'),
    createdAt: invoice.finalizedAt ?? invoice.createdAt,
    stamp: stampOf(invoice),
    seller: {
      name: seller.name === null ? null : printableText(seller.name),
      details: [
        ...seller.addressLines,
        ...(seller.taxId === null ? [] : [`Tax ID ${seller.taxId}`]),
        ...(seller.email === null ? [] : [seller.email]),
      ].flatMap(tidyLines),
    },
    buyer: {
      name: printableText(buyer.name),
      details: [...buyer.addressLines, ...(buyer.email === null ? [] : [buyer.email])].flatMap(
        tidyLines,
      ),
    },
    details: detailsOf(invoice, buyer.timezone),
    currency: invoice.currency,
    lines: invoice.lines.map((line) => toDocumentLine(line, invoice, buyer.timezone)),
    totals: totalsOf(invoice),
    notes: notesOf(invoice),
  };
}

function tidyLines(text: string): readonly string[] {
  return text
    .split(/[\r\n]+/)
    .map(printableText)
    .filter((line) => line !== '');
}

function stampOf({ status }: Invoice): InvoiceDocument['stamp'] {
  switch (status) {
    case 'paid':
      return 'PAID';
    case 'void':
      return 'VOID';
    case 'draft':
    case 'open':
    case 'uncollectible':
      return null;
  }
}

function detailsOf(invoice: Invoice, timezone: string): InvoiceDocument['details'] {
  const on = (instant: Date | null): string | null =>
    instant === null ? null : localDateOn(instant, timezone);
  const { periodStartAt: startAt, periodEndAt: endAt } = invoice;
  const details: readonly (readonly [label: string, value: string | null])[] = [
    ['Number', invoice.number === null ? 'Draft' : printableText(invoice.number)],
    ['Date', on(invoice.finalizedAt)],
    ['Due', on(invoice.dueAt)],
    [
      'Period',
      startAt === null || endAt === null
        ? null
        : formatPeriod({ startAt, endAt }, periodTimeZone(invoice) ?? timezone),
    ],
    ['Paid', invoice.status === 'paid' ? on(invoice.paidAt) : null],
    ['Voided', invoice.status === 'void' ? on(invoice.voidedAt) : null],
    ['Currency', invoice.currency],
  ];
  return details.flatMap(([label, value]) => (value === null ? [] : [{ label, value }]));
}

/**
 * Returns the time zone of a line whose period starts or ends together with the period of the invoice; null if there is
 * no such line.
 */
function periodTimeZone({ lines, periodStartAt, periodEndAt }: Invoice): string | null {
  const line = lines.find(
    ({ period, timeZone }) =>
      timeZone !== null &&
      (period?.startAt.getTime() === periodStartAt?.getTime() ||
        period?.endAt.getTime() === periodEndAt?.getTime()),
  );
  return line?.timeZone ?? null;
}

function formatPeriod(period: Period, timezone: string): string {
  const first = localDateOn(period.startAt, timezone);
  const last = lastLocalDateOf(period, timezone);
  return first === last ? first : `${first} \u2013 ${last}`;
}

function toDocumentLine(line: InvoiceLine, invoice: Invoice, timezone: string): DocumentLine {
  const { currency } = invoice;
  const rates = invoice.taxRates.filter(({ taxRateId }) => line.taxRateIds.includes(taxRateId));
  return {
    description: printableText(line.description),
    period: line.period === null ? null : formatPeriod(line.period, line.timeZone ?? timezone),
    quantity: line.quantity === null ? '' : formatQuantity(line.quantity),
    unitPrice: line.unitAmount === null ? '' : formatUnitPrice(line.unitAmount, currency),
    discount: line.discount === 0n ? '' : formatAmount(-line.discount, currency),
    taxRates: isTaxed(line, invoice) ? rates.map(percentOf).join(' + ') : '',
    amount: formatAmount(line.amount, currency),
  };
}

function percentOf({ percentage }: InvoiceTaxRate): string {
  return `${formatQuantity(percentage)}%`;
}

function totalsOf(invoice: Invoice): readonly DocumentTotal[] {
  const { currency } = invoice;
  const row = (
    label: string,
    amountMinor: bigint,
    weight: DocumentTotal['weight'] = 'plain',
  ): DocumentTotal => ({ label, amount: formatAmount(amountMinor, currency), weight });
  const unlessZero = (label: string, amountMinor: bigint): readonly DocumentTotal[] =>
    amountMinor === 0n ? [] : [row(label, amountMinor)];
  const taxes = (inclusive: boolean, label: string): readonly DocumentTotal[] =>
    invoice.taxRates
      .filter((rate) => rate.inclusive === inclusive)
      .map((rate) => {
        const name = isolated(printableText(rate.name));
        const taxable = isolated(formatAmount(rate.taxableMinor, currency));
        const text = `${label}${name} ${isolated(percentOf(rate))} on ${taxable}`;
        return row(text, rate.taxMinor, inclusive ? 'quiet' : 'plain');
      });
  const settled = invoice.amountPaid !== 0n || invoice.amountCredited !== 0n;
  return [
    row('Subtotal', invoice.subtotal),
    ...unlessZero('Discount', -invoice.discount),
    ...taxes(false, ''),
    row('Total', invoice.total, 'strong'),
    ...taxes(true, 'includes '),
    ...unlessZero('Credit applied', -invoice.creditApplied),
    ...unlessZero('Given as credit', invoice.creditedToBalance),
    row(`Amount due ${currency}`, invoice.amountDue, 'strong'),
    ...unlessZero('Paid', -invoice.amountPaid),
    ...unlessZero('Credited', -invoice.amountCredited),
    ...(settled ? [row(`Remaining ${currency}`, amountRemaining(invoice), 'strong')] : []),
  ];
}

function notesOf(invoice: Invoice): readonly string[] {
  const notes: string[] = [];
  const treatment = printedTaxTreatment(invoice);
  if (treatment === 'reverse') {
    notes.push('Reverse charge: the recipient accounts for the tax.');
  }
  if (treatment === 'exempt') notes.push('Exempt from tax.');
  if (invoice.status === 'draft') notes.push('A draft is not an invoice: it can still change.');
  if (invoice.status === 'void') notes.push('This invoice is void: nothing is owed for it.');
  if (invoice.creditedToBalance > 0n) {
    const lowered =
      invoice.subscriptionId === null
        ? 'later invoices'
        : 'unpaid invoices of the subscription, then later invoices';
    notes.push(`The negative total is credit. It lowers ${lowered}.`);
  }
  return notes;
}
