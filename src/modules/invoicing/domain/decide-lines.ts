import { formatExact, parseDecimal } from '../../../core/decimal';
import { invariant } from '../../../core/invariant';
import { type Commitment, forFullPeriod, type LineKind } from '../../../core/invoice';
import type { Proration } from '../../../core/proration';
import { rate, roundAtLine } from '../../../core/rating';
import { type CorrectedBills, correctionTerms } from './correction-terms';
import { lateUsageLine, usageLines, type CountedUsage } from './decide-usage-lines';
import { type LimitCredit, limitCredits } from './given-back';
import type { BillingRequest } from './billing-request';
import { type BilledLine, heldOf } from './held-lines';
import type { HeldTerms } from './held-terms';
import type { InvoiceLine } from './invoice';
import { requestedFieldsOf, unitAmountOf, type LineDraft } from './line-draft';
import type {
  ChargeLineRequest,
  CreditLineRequest,
  FixedLineRequest,
  LineItemRequest,
  UsageLineRequest,
} from './line-item-request';
import { creditOf, type CreditTrace, type LineTrace } from './trace';
import { billedPartOf, unusedOf } from './unused-time';

/** Ends the description of a charge that bills only the rest of a period, after a change of the subscription. */
const REST_OF_PERIOD = ' (rest of the period)';

export interface DecidedLines {
  readonly lines: readonly LineDraft[];
  /** Minimums and maximums of prices. Each may cause a true-up line for its request (`of`). */
  readonly commitments: readonly (Omit<Commitment, 'taxRateIds'> & {
    readonly of: ChargeLineRequest | UsageLineRequest;
  })[];
}

export interface LineContext extends Partial<CorrectedBills> {
  /**
   * Lines of finalized, non-void invoices that billed the credited items. Charges whose unused part was already
   * credited are absent.
   */
  readonly billed: readonly BilledLine[];
  /**
   * How much of each refunded invoice may still be credited, in minor units by invoice id. Invoices without an entry
   * have no limit.
   */
  readonly creditable: ReadonlyMap<string, bigint>;
  /** Usage counted for the requests, and late usage (accepted after its period was billed). */
  readonly usage: readonly CountedUsage[];
}

/**
 * Returns the lines for line item requests, sorted by {@link sortRank}. Amounts are rounded, before discounts and tax.
 * Leaves out:
 * - charges prorated to zero
 * - zero usage without a fee
 * - credits that give back neither money nor a discount. A credit of 0 stays if a credit note already credited a part
 *   of the line.
 *
 * @param nextId makes the id of the next line
 */
export function decideLines(
  requests: readonly LineItemRequest[],
  context: LineContext,
  nextId: () => string,
): DecidedLines {
  const { usage } = context;
  const corrections = correctionTerms(context);
  const limit = limitCredits(context.creditable);
  const lines: LineDraft[] = [];
  const commitments: DecidedLines['commitments'][number][] = [];
  for (const request of requests) {
    switch (request.kind) {
      case 'fixed':
        lines.push(fixedLine(request, nextId()));
        break;
      case 'credit':
        lines.push(...creditLines(request, context, limit, nextId));
        break;
      case 'usage': {
        const made = usageLines(countedFor(request, usage), nextId);
        for (const line of made.lines) lines.push(line);
        commitments.push(...made.commitments);
        break;
      }
      case 'charge': {
        if (request.proration?.numerator === 0n) break;
        const line = chargeLine(request, nextId());
        lines.push(line);
        const { minimumMinor, maximumMinor } = request.price;
        if (minimumMinor !== null || maximumMinor !== null) {
          commitments.push({
            lineId: nextId(),
            countedLineIds: new Set([line.id]),
            alreadyBilledMinor: 0n,
            minimumMinor,
            maximumMinor,
            proration: request.proration,
            of: request,
          });
        }
      }
    }
  }
  for (const late of usage) {
    const line = late.billed === null ? null : lateUsageLine(late, corrections, limit, nextId);
    if (line !== null) lines.push(line);
  }
  return {
    lines: lines.toSorted((one, other) => sortRank(one) - sortRank(other)),
    commitments: commitments.toSorted((one, other) => sortRank(one.of) - sortRank(other.of)),
  };
}

/**
 * Removes late usage (accepted after its period was billed) from the context if the request does not set `lateUsage`,
 * has only credits and charges, and none of these makes a line. Example: a change, prorated by days, on the date on
 * which the period ends.
 */
export function withBillableUsage<Context extends LineContext>(
  { lines, lateUsage }: Pick<BillingRequest, 'lines' | 'lateUsage'>,
  context: Context,
): Context {
  const mayBeAlone =
    lateUsage === undefined && lines.every(({ kind }) => kind === 'credit' || kind === 'charge');
  if (!mayBeAlone || context.usage.length === 0) return context;
  const withoutLate = { ...context, usage: [] };
  const { lines: others } = decideLines(lines, withoutLate, () => '');
  return others.length > 0 ? context : withoutLate;
}

/**
 * Returns the rank by which lines are sorted on an invoice: charges in advance, charges in arrears, usage, one-off
 * items, then credits. Lines of equal rank keep the order of their requests. True-ups have the rank of their charge,
 * and are later moved to the end.
 */
export function sortRank(
  line: Pick<LineDraft, 'kind' | 'isInAdvance'> | ChargeLineRequest | UsageLineRequest,
): number {
  switch (line.kind) {
    case 'usage':
      return 2;
    case 'one_off':
      return 3;
    case 'credit':
      return 4;
    default:
      return line.isInAdvance ? 0 : 1;
  }
}

function countedFor(request: UsageLineRequest, usage: readonly CountedUsage[]): CountedUsage {
  const counted = usage.find(({ request: one, billed }) => billed === null && one === request);
  invariant(counted !== undefined, 'the usage of each request was counted');
  return counted;
}

function fixedLine({ description, amountMinor }: FixedLineRequest, id: string): LineDraft {
  return {
    ...WITHOUT_ITEM,
    id,
    kind: 'one_off',
    description,
    amount: amountMinor,
    trace: { kind: 'fixed', amountMinor },
  };
}

function chargeLine(request: ChargeLineRequest, id: string): LineDraft {
  const { price, quantity, proration } = request;
  const rated = rate(price.rating, { kind: 'quantity', quantity: parseDecimal(quantity) });
  return {
    ...requestedFieldsOf(request),
    id,
    kind: request.isProration ? 'proration' : 'recurring',
    description: request.isProration ? price.name + REST_OF_PERIOD : price.name,
    quantity,
    unitAmount: unitAmountOf(price.rating),
    amount: roundAtLine(rated.amount, proration),
    trace: { kind: 'rated', price: price.rating, quantity, steps: rated.steps, proration },
  };
}

/** Returns the true-up line that lifts a charge to the minimum of its price, or lowers it to the maximum. */
export function trueUpLine(
  commitment: DecidedLines['commitments'][number],
  kind: LineKind,
  amount: bigint,
  billedMinor: bigint,
): LineDraft {
  const { of: request, lineId, minimumMinor, maximumMinor, proration } = commitment;
  const trace: LineTrace = { kind: 'true_up', billedMinor, minimumMinor, maximumMinor, proration };
  return {
    ...requestedFieldsOf(request),
    id: lineId,
    kind,
    description: `${request.price.name} (${kind})`,
    quantity: null,
    unitAmount: null,
    amount,
    trace,
  };
}

/**
 * Returns credit lines for the unused parts of the charges of an item. A credit includes the true-ups of its charge
 * (lines that lift it to its minimum or lower it to its maximum).
 */
function creditLines(
  request: CreditLineRequest,
  context: LineContext,
  limit: LimitCredit,
  nextId: () => string,
): LineDraft[] {
  return context.billed
    .filter(({ itemId }) => itemId === request.itemId)
    .filter(({ kind }) => kind === 'recurring' || kind === 'proration')
    .flatMap((line) => {
      const unused = { from: request.unusedFrom, part: unusedOf(line, request) };
      return creditLine(line, { ...context, limit }, unused, nextId()) ?? [];
    });
}

/**
 * Calculates a credit line again, from what is now left of the credited line. Returns null in three cases:
 * - {@link creditLine} returns null.
 * - Another credit line already credits the same line.
 * - The invoice of the credited line is now void.
 *
 * If the revenue of the credited line was released since, the credit lowers revenue instead of deferred revenue.
 *
 * @param context has the finalized lines of the credited item
 * @param limit one function for all credits of the invoice, because each credit leaves less for the next one
 */
export function recalculateCredit(
  credit: InvoiceLine,
  context: LineContext,
  limit: LimitCredit,
  id: string,
): LineDraft | null {
  const { trace, period, creditsLineId } = credit;
  invariant(
    trace.kind === 'credit' && period !== null,
    'a credit line has a credit trace and a period',
  );
  const line = context.billed.find((one) => one.id === creditsLineId);
  if (line === undefined) return null;
  // Both parts were counted with the same time zone data.
  const unused = {
    from: period.startAt,
    part: trace.unused,
    billedPart: trace.billedProration ?? undefined,
  };
  const draft = creditLine(line, { ...context, limit }, unused, id);
  return draft === null ? null : { ...draft, isInAdvance: draft.isInAdvance && !line.isReleased };
}

function trueUpsOf(line: BilledLine, lines: readonly BilledLine[]): readonly BilledLine[] {
  return lines.filter(
    ({ invoiceId, itemId, kind, period }) =>
      itemId === line.itemId &&
      (kind === 'minimum' || kind === 'maximum') &&
      invoiceId === line.invoiceId &&
      period?.startAt.getTime() === line.period?.startAt.getTime(),
  );
}

interface CreditTerms {
  readonly billed: readonly BilledLine[];
  readonly limit: LimitCredit;
}

/**
 * Returns the trace of a credit for the unused part of a line: the figures that the credit is computed from. Refunds of
 * the invoice are not considered.
 * @param billed includes all lines of the same invoice, among them the true-ups of the line
 */
export function creditTraceOf(
  line: BilledLine,
  billed: readonly BilledLine[],
  unused: Proration,
  billedProration = billedPartOf(line, unused.unit),
): CreditTrace & { readonly held: HeldTerms } {
  const parts = [line, ...trueUpsOf(line, billed)];
  const billedMinor = totalOf(parts, ({ amount }) => amount);
  return {
    kind: 'credit',
    fullAmount: formatExact(forFullPeriod(billedMinor, billedProration)),
    billedProration,
    billedMinor,
    discountMinor: totalOf(parts, ({ discount }) => discount),
    creditedMinor: totalOf(parts, ({ credited }) => credited),
    unused,
    held: heldOf(parts),
  };
}

/**
 * Returns the credit for the unused part of a line; null if it gives back neither money nor a discount. If a credit
 * note already credited a part of the line, returns a credit of 0 instead of null. The credit of 0 prevents the note
 * from being voided.
 */
function creditLine(
  line: BilledLine,
  { billed, limit }: CreditTerms,
  unused: { readonly from: Date; readonly part: Proration; readonly billedPart?: Proration },
  id: string,
): LineDraft | null {
  const whole = creditTraceOf(line, billed, unused.part, unused.billedPart);
  const mostMinor = limit(line.invoiceId, whole.held, creditOf(whole).amountMinor);
  const base = mostMinor === null ? whole : { ...whole, mostMinor };
  const { amountMinor, discounts } = creditOf(base);
  const isLoweredByNotes = base.creditedMinor > 0n && unused.part.numerator > 0n;
  if (amountMinor === 0n && discounts.length === 0 && !isLoweredByNotes) return null;
  const { taxRates: _rates, billedFrom: _from, ...sold } = line;
  return {
    ...sold,
    id,
    kind: 'credit',
    description: `Unused time on ${priceNameOf(line)}`,
    unitAmount: null,
    amount: -amountMinor,
    period: { startAt: unused.from, endAt: line.period?.endAt ?? unused.from },
    proration: unused.part,
    prorationUnit: unused.part.unit,
    creditsLineId: line.id,
    trace: { ...base, returned: discounts },
  };
}

function priceNameOf({ kind, description }: BilledLine): string {
  const isRest = kind === 'proration' && description.endsWith(REST_OF_PERIOD);
  return isRest ? description.slice(0, -REST_OF_PERIOD.length) : description;
}

const WITHOUT_ITEM = {
  quantity: null,
  unitAmount: null,
  priceId: null,
  itemId: null,
  period: null,
  fullPeriod: null,
  proration: null,
  prorationUnit: null,
  timeZone: null,
  isInAdvance: false,
  creditsLineId: null,
} as const;

function totalOf(lines: readonly InvoiceLine[], amountOf: (line: InvoiceLine) => bigint): bigint {
  return lines.reduce((total, line) => total + amountOf(line), 0n);
}
