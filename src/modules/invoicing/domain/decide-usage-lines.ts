import { parseExact, subtract, sum } from '../../../core/decimal';
import { invariant } from '../../../core/invariant';
import type { Commitment } from '../../../core/invoice';
import { firstCharacters } from '../../../core/text';
import type { CorrectionTerms } from './correction-terms';
import { type LimitCredit, limitCorrection } from './given-back';
import { type BilledLine, heldOf, heldOfInvoices } from './held-lines';
import { requestedFieldsOf, unitAmountOf, type LineDraft } from './line-draft';
import type { UsageLineRequest } from './line-item-request';
import {
  correctionOf,
  isNothing,
  nameOfGroup,
  ratePart,
  shownQuantity,
  type BilledUsage,
  type UsageLimits,
  type UsagePart,
  type ItemUsage,
  type UsageTrace,
  zeroUsageShare,
} from './usage';

const LONGEST_DESCRIPTION = 500;

/**
 * Usage counted for a request. `billed` is what finalized, non-void invoices billed so far for the request; null if the
 * request is the first bill of the usage.
 */
export interface CountedUsage {
  readonly request: UsageLineRequest;
  readonly reading: ItemUsage;
  readonly billed: EarlierBill | null;
}

/** Amounts that finalized, non-void invoices have billed so far for usage of an item in a period. */
export interface EarlierBill extends BilledUsage {
  /** The lines that billed the usage, including true-ups and usage corrections. */
  readonly lines: readonly BilledLine[];
}

export interface UsageLines {
  readonly lines: readonly LineDraft[];
  readonly commitments: readonly (Omit<Commitment, 'taxRateIds'> & {
    readonly of: UsageLineRequest;
  })[];
}

/**
 * Returns the usage lines of a period: one for each group, or one for all groups together. Also returns the minimum and
 * maximum of the price for that period. Leaves out a line with a quantity of 0 for which no fee is due.
 */
export function usageLines({ request, reading }: CountedUsage, nextId: () => string): UsageLines {
  const { rating } = request.price;
  const zeroUsage = zeroUsageShare(rating, request.proration);
  const requested = requestedFieldsOf(request);
  const traceOfAll = usageTraceOf(request, reading);
  const lines = reading.parts.flatMap((part) => {
    const { amountMinor, proration, traced } = ratePart(rating, part, zeroUsage);
    if (isNothing(part, amountMinor)) return [];
    const trace: UsageTrace = { ...traceOfAll, parts: [traced], corrects: null };
    return [
      {
        ...requested,
        proration,
        id: nextId(),
        kind: 'usage' as const,
        description: descriptionOf(request, part),
        quantity: shownQuantity(part.quantity),
        unitAmount: unitAmountOf(rating),
        amount: amountMinor,
        trace,
      },
    ];
  });
  const { minimumMinor, maximumMinor } = request.price;
  if (minimumMinor === null && maximumMinor === null) return { lines, commitments: [] };
  const commitment = {
    lineId: nextId(),
    countedLineIds: new Set(lines.map(({ id }) => id)),
    alreadyBilledMinor: 0n,
    minimumMinor,
    maximumMinor,
    proration: request.proration,
    of: request,
  };
  return { lines, commitments: [commitment] };
}

/**
 * Returns the line that bills late usage (accepted after its period was billed): the amount of the usage as counted
 * now, less the amount billed so far. Both amounts are for all groups together, within the minimum and maximum of the
 * price. Returns null if there is no difference, or if the line would take back usage that only void invoices billed.
 *
 * The amount of the line is 0 if discounts, credit notes or refunds left nothing to give back. Such a line is still
 * needed, because the next correction is calculated from it. Added usage gets the discounts and taxes of the first bill
 * of the period, if that bill is known.
 *
 * @param corrections one object for all usage corrections of the invoice, because each changes the remaining coupon
 *   amounts
 * @param limit one function for all credits of the invoice, because each credit leaves less for the next one
 */
export function lateUsageLine(
  { request, reading, billed: found }: CountedUsage,
  corrections: CorrectionTerms,
  limit: LimitCredit,
  nextId: () => string,
): LineDraft | null {
  invariant(found !== null, 'late usage has an earlier bill');
  const { lines, ...billed } = found;
  const { rating } = request.price;
  const zeroUsage = zeroUsageShare(rating, request.proration);
  const rated = reading.parts.map((part) => ratePart(rating, part, zeroUsage));
  const ratedMinor = rated.reduce((total, { amountMinor }) => total + amountMinor, 0n);
  const all = heldOf(lines);
  const wanted = correctionOf(ratedMinor, limitsOf(request), { ...billed, held: all });
  const givenMinor = wanted.amountMinor < 0n ? -wanted.amountMinor : 0n;
  const invoices = heldOfInvoices(lines);
  const { taken, mostMinor, held } = limitCorrection(givenMinor, all, invoices, limit);
  const terms = { ...billed, held };
  const limited = mostMinor === null ? terms : { ...terms, mostMinor };
  const correction = correctionOf(ratedMinor, limitsOf(request), limited);
  const { amountMinor: amount, differenceMinor, returned } = correction;
  const isNothingGiven = wanted.amountMinor === 0n && returned.length === 0;
  if (differenceMinor === 0n || (isNothingGiven && held.listedMinor <= 0n)) return null;
  if (differenceMinor < 0n) corrections.takenBack(request, -differenceMinor);
  corrections.returned(returned);
  const billedBy = differenceMinor > 0n ? corrections.added(request, differenceMinor) : null;
  const added = billedBy === null ? billed : { ...billed, billedBy };
  const corrects = differenceMinor < 0n ? { ...limited, differenceMinor, returned, taken } : added;
  const parts = rated.map(({ traced }) => traced);
  const quantity = subtract(quantityOf(reading), parseExact(billed.quantity));
  return {
    ...requestedFieldsOf(request),
    id: nextId(),
    kind: 'usage',
    description: `${request.price.name} (late usage)`,
    quantity: shownQuantity(quantity),
    unitAmount: null,
    amount,
    trace: { ...usageTraceOf(request, reading), parts, corrects },
  };
}

function quantityOf({ parts }: ItemUsage) {
  return sum(parts.map(({ quantity }) => quantity));
}

export function usageTraceOf(
  request: UsageLineRequest,
  reading: Omit<ItemUsage, 'parts'>,
): Omit<UsageTrace, 'parts' | 'corrects'> {
  const { meter, countedFrom, upToPosition } = reading;
  return {
    kind: 'usage',
    price: request.price.rating,
    meter,
    isByGroup: request.isByGroup,
    period: request.period,
    countedFrom,
    upToPosition,
    limits: limitsOf(request),
    zeroUsageProration: zeroUsageShare(request.price.rating, request.proration),
  };
}

function limitsOf({ price, proration }: UsageLineRequest): UsageLimits {
  const { minimumMinor, maximumMinor } = price;
  return { minimumMinor, maximumMinor, proration };
}

function descriptionOf({ price }: UsageLineRequest, { group }: UsagePart): string {
  const named = group === null ? price.name : `${price.name} (${nameOfGroup(group)})`;
  return firstCharacters(named, LONGEST_DESCRIPTION);
}
