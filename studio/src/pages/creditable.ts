import { useQuery } from '@tanstack/react-query';
import { $api } from '../api/client';
import { readPage } from '../api/lists';
import type { CreditNote, Invoice } from '../api/objects';

type BilledLine = Invoice['lines'][number];

const NOTES_READ = 100;
const LATER_INVOICES_READ = 100;
const LINES_READ = 100;

/** Data that lowers the creditable amounts of the lines of an invoice. */
interface Lowered {
  /** Credit notes of the invoice. */
  readonly notes: readonly CreditNote[];
  /** Lines of later invoices in effect that credit lines of the invoice. */
  readonly credits: readonly BilledLine[];
  /** Returns the inclusive tax of a line, in minor units. */
  readonly inclusiveTaxOf: (line: BilledLine) => number;
}

const isInEffect = ({ status }: Invoice): boolean => status !== 'draft' && status !== 'void';

function isBilledWith(one: BilledLine, other: BilledLine): boolean {
  if (one.id === other.id) return true;
  return (
    one.price_id !== null &&
    one.price_id === other.price_id &&
    one.type !== 'credit' &&
    other.type !== 'credit' &&
    one.period_start === other.period_start &&
    one.period_end === other.period_end
  );
}

const sumOf = <Item>(items: readonly Item[], minorOf: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + minorOf(item), 0);

const amountOf = ({ amount }: { readonly amount: number }): number => amount;

const notedLines = ({ notes }: Lowered): CreditNote['lines'] =>
  notes.filter(({ status }) => status === 'issued').flatMap(({ lines }) => lines);

/** Returns the amount of a line, without tax, after discounts. */
const netOf = (line: BilledLine, { inclusiveTaxOf }: Lowered): number =>
  line.amount - line.discount - inclusiveTaxOf(line);

/** Returns what is left of a line, without tax, after discounts, credit notes and credits on later invoices. */
function leftOf(line: BilledLine, lowered: Lowered): number {
  const noted = notedLines(lowered).filter(({ invoice_line_id }) => invoice_line_id === line.id);
  const credited = lowered.credits.filter(({ credits_line_id }) => credits_line_id === line.id);
  return sumOf([line, ...credited], (one) => netOf(one, lowered)) - sumOf(noted, amountOf);
}

/** Returns what is left of all lines, without tax, after discounts, rebates and credit notes. */
function leftOfInvoice({ lines }: Invoice, lowered: Lowered): number {
  const left = sumOf(lines, (one) => netOf(one, lowered)) - sumOf(notedLines(lowered), amountOf);
  return Math.max(0, left);
}

/**
 * Returns the largest amount, without tax, that a credit note can credit on a line. It is at most what is left of the
 * line. It is also at most what is left of all lines with the same price and period, because a line that applies the
 * maximum of the price lowers their sum, and at most what is left of the invoice. The service also counts refunds, disputes and usage corrections on other
 * invoices, and refuses an amount that exceeds what they leave.
 */
function creditableOf(invoice: Invoice, line: BilledLine, lowered: Lowered): number {
  const together = invoice.lines.filter((one) => isBilledWith(one, line));
  const left = sumOf(together, (one) => leftOf(one, lowered));
  return Math.max(0, Math.min(left, leftOf(line, lowered), leftOfInvoice(invoice, lowered)));
}

/** Reads the later invoices of the same subscription that credit lines of an invoice. */
function useLaterCredits(invoice: Invoice | undefined): {
  readonly crediting: readonly Invoice[];
  readonly isLoading: boolean;
  readonly error: unknown;
} {
  const subscriptionId = invoice?.subscription_id ?? null;
  const { data, isLoading, error } = useQuery({
    queryKey: ['later-invoices', invoice?.id],
    enabled: subscriptionId !== null,
    queryFn: () =>
      readPage('/v1/invoices', {
        subscription_id: subscriptionId ?? '',
        limit: LATER_INVOICES_READ,
      }),
  });
  const ids = new Set<string | null>(invoice?.lines.map(({ id }) => id));
  const crediting = (data?.data ?? []).filter(
    (one) => isInEffect(one) && one.lines.some((line) => ids.has(line.credits_line_id)),
  );
  return { crediting, isLoading, error };
}

/** Reads what credit notes can still credit on each line of an invoice. */
export function useCreditable(invoice: Invoice | undefined): {
  readonly creditableOf: (line: BilledLine) => number;
  /** Limit of the sum of all lines, without tax. */
  readonly creditableInAll: number;
  readonly isLoading: boolean;
  readonly error: unknown;
} {
  const id = invoice?.id ?? '';
  const notes = $api.useQuery(
    'get',
    '/v1/credit-notes',
    { params: { query: { invoice_id: id, limit: NOTES_READ } } },
    { enabled: invoice !== undefined },
  );
  const later = useLaterCredits(invoice);
  const inclusive = (invoice?.taxes ?? []).filter((tax) => tax.inclusive);
  const isMixed = inclusive.length > 0 && inclusive.length < (invoice?.taxes.length ?? 0);
  // The tax of a line is a sum over all rates. Only the explanation contains the tax of each rate.
  const explainedIds = [id, ...later.crediting.map((one) => one.id)];
  const explained = useQuery({
    queryKey: ['explanations', explainedIds],
    enabled: isMixed && !later.isLoading,
    queryFn: () =>
      Promise.all(
        explainedIds.map((one) =>
          readPage('/v1/invoices/{id}/explanation', { limit: LINES_READ }, { id: one }),
        ),
      ),
  });
  const explanations = explained.data?.flatMap(({ data }) => data) ?? [];
  const inclusiveIds = new Set(inclusive.map(({ tax_rate_id }) => tax_rate_id));
  const inclusiveTaxOf = (line: BilledLine): number => {
    if (!isMixed) return inclusive.length > 0 ? line.tax : 0;
    const shares = explanations.find((one) => one.line.id === line.id)?.tax_shares;
    // Not among the lines that were read: the tax with which most is left. The service refuses what exceeds the limit.
    if (shares === undefined) return Math.min(0, line.tax);
    return sumOf(
      shares.filter((share) => inclusiveIds.has(share.id)),
      ({ amount }) => amount,
    );
  };
  const credits = later.crediting.flatMap(({ lines }) => lines);
  const lowered = { notes: notes.data?.data ?? [], credits, inclusiveTaxOf };
  return {
    creditableOf: (line) => (invoice === undefined ? 0 : creditableOf(invoice, line, lowered)),
    creditableInAll: invoice === undefined ? 0 : leftOfInvoice(invoice, lowered),
    isLoading: notes.isLoading || later.isLoading || explained.isLoading,
    error: notes.error ?? later.error ?? explained.error,
  };
}
