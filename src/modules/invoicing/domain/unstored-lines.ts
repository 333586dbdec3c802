import { compare, parseExact, ZERO } from '../../../core/decimal';
import { creditTraceOf } from './decide-lines';
import { usageTraceOf } from './decide-usage-lines';
import { type BilledLine, billedUsageOf, heldOf } from './held-lines';
import type { InvoiceLine } from './invoice';
import type { CreditLineRequest, UsageLineRequest } from './line-item-request';
import type { SimulatedLine } from './simulate';
import { creditOf } from './trace';
import { unusedOf } from './unused-time';
import type { ItemUsage, MeterSnapshot, TracedPart } from './usage';
import { linesOfUsage } from './usage-bill';

/** Newest record of the billed usage of an item and period, if no invoice line has this usage. */
export interface UsageWithoutLine extends Omit<ItemUsage, 'meter' | 'parts'> {
  readonly id: string;
  readonly customerId: string;
  readonly request: UsageLineRequest;
  readonly parts: readonly Pick<TracedPart, 'group' | 'quantity' | 'events'>[];
}

/**
 * Returns a line for each credit of a charge in advance that was not stored, because its amount was 0. Leaves out
 * credits that are missing for another reason: refunds left nothing to credit, or the invoice with the credit is void.
 *
 * @param lines lines of finalized, non-void invoices
 * @param creditAtEnd request for the credit of each item that ended, by item id
 */
export function unstoredCredits(
  lines: readonly InvoiceLine[],
  creditAtEnd: ReadonlyMap<string, CreditLineRequest>,
): readonly SimulatedLine[] {
  const creditedIds = new Set(lines.map(({ creditsLineId }) => creditsLineId));
  const billed = lines.map(withoutTaxes);
  return billed.filter(isPrepaidCharge).flatMap((line): readonly SimulatedLine[] => {
    const request = creditAtEnd.get(line.itemId ?? '');
    const endAt = line.period?.endAt;
    if (request === undefined || endAt === undefined || creditedIds.has(line.id)) return [];
    if (request.unusedFrom >= endAt) return [];
    const trace = creditTraceOf(line, billed, unusedOf(line, request));
    const { amountMinor, discounts } = creditOf(trace);
    if (amountMinor !== 0n || discounts.length > 0) return [];
    const period = { startAt: request.unusedFrom, endAt };
    const id = `credit of ${line.id}`;
    return [{ ...line, id, kind: 'credit', amount: 0n, period, creditsLineId: line.id, trace }];
  });
}

/** Returns true for a charge whose unused part is credited if its item ends early. */
export function isPrepaidCharge({ kind, isInAdvance }: InvoiceLine): boolean {
  return isInAdvance && (kind === 'recurring' || kind === 'proration');
}

/**
 * Returns the usage line of 0 of a billed period, if no stored line has its usage: the amount was 0, or the stored lines
 * have other usage.
 * - If there was usage, or a stored line bills usage of the period, the line is a usage correction.
 * - Otherwise the line is the first bill of the period. Null if a stored line bills the period, such as a true-up, or
 *   if the record has no `billTerms`.
 * @param lines lines of finalized, non-void invoices
 */
export function unstoredUsage(
  { id, request, ...reading }: UsageWithoutLine,
  meter: MeterSnapshot,
  lines: readonly InvoiceLine[],
): SimulatedLine | null {
  const billed = linesOfUsage(request, lines);
  const parts = reading.parts.filter(
    ({ quantity, events }) => events > 0n || compare(parseExact(quantity), ZERO) !== 0,
  );
  const isUsed = parts.length > 0 || billed.some(({ kind }) => kind === 'usage');
  if (!isUsed && (billed.length > 0 || request.billTerms === undefined)) return null;
  const { itemId, period, price, isByGroup } = request;
  const trace = {
    ...usageTraceOf(request, { ...reading, meter }),
    parts: (isByGroup ? parts : reading.parts).map((part) => ({
      ...part,
      charged: null,
      steps: [],
    })),
    corrects: isUsed ? { ...billedUsageOf(billed), held: heldOf(billed.map(withoutTaxes)) } : null,
  };
  const ids = { id, invoiceId: id, priceId: price.priceId, itemId, creditsLineId: null };
  return { ...ids, kind: 'usage', amount: 0n, period, trace };
}

function withoutTaxes(line: InvoiceLine): BilledLine {
  return { ...line, taxRates: [], billedFrom: null };
}
