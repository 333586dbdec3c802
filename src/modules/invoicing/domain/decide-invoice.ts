import { invariant } from '../../../core/invariant';
import {
  assembleInvoice,
  type AssembledInvoice,
  type Commitment,
  type CreditGrant,
} from '../../../core/invoice';
import type { TaxTreatment } from '../../../core/tax';
import type { InvoiceRateTerms } from './billed-by';
import { correctedCouponsOf } from './correction-terms';
import { type CouponsInPeriod, couponsOf, redeemed, timeZoneOf } from './decide-coupons';
import { decideLines, type DecidedLines, type LineContext, trueUpLine } from './decide-lines';
import type { Invoice, InvoiceCoupon, InvoiceLine } from './invoice';
import type { LineDraft } from './line-draft';
import type { BillingRequest } from './billing-request';
import { ownRatesOf, ownTermsOf } from './own-terms';
import { evaluate } from './trace';

export interface BillingContext extends LineContext, CouponsInPeriod {
  readonly taxRates: readonly InvoiceRateTerms[];
  readonly taxTreatment: TaxTreatment;
  readonly testClockId: string | null;
  readonly creditGrants: readonly CreditGrant[];
  /**
   * Time of the last change to the credit and earlier lines that the invoice may use; null if it is not later than now.
   */
  readonly followsAt?: Date | null;
}

export interface NewInvoiceIds {
  readonly invoiceId: string;
  readonly nextLineId: () => string;
}

/**
 * Returns the draft for a billing request, with the amounts that it would have if it were finalized now. The draft
 * cannot be finalized before its `updatedAt`. This is `now`, or `followsAt` of the context if that is later.
 */
export function decideInvoice(
  request: BillingRequest,
  context: BillingContext,
  ids: NewInvoiceIds,
  now: Date,
): Invoice {
  const decided = decideLines(request.lines, context, ids.nextLineId);
  const { amounts, drafts, terms } = priced(request.currency, decided, context);
  return {
    id: ids.invoiceId,
    version: 1,
    number: null,
    status: 'draft',
    reason: request.reason,
    customerId: request.customerId,
    testClockId: context.testClockId,
    subscriptionId: request.subscriptionId,
    reissueOfId: null,
    renewsAt: request.renewsAt,
    currency: request.currency,
    periodStartAt: request.period?.startAt ?? null,
    periodEndAt: request.period?.endAt ?? null,
    ...amountsOf(amounts, terms),
    amountPaid: 0n,
    amountCredited: 0n,
    amountPending: 0n,
    collection: request.collection,
    attemptCount: 0,
    collectAt: null,
    isCollectedWhileUnpaid: false,
    daysUntilDue: request.daysUntilDue,
    dueAt: null,
    overdueAt: null,
    finalizesAt: null,
    requestedLines: null,
    finalizedAt: null,
    paidAt: null,
    voidedAt: null,
    voidedBy: null,
    uncollectibleAt: null,
    snapshots: null,
    metadata: request.metadata,
    createdAt: now,
    updatedAt: context.followsAt ?? now,
    lines: linesOf(ids.invoiceId, drafts, amounts),
  };
}

/**
 * Calculates the discounts, taxes and credit of a draft again, because coupons, tax rates and credit may have changed
 * since the draft was made. The lines stay the same.
 */
export function reassembleDraft(draft: Invoice, context: BillingContext): Invoice {
  invariant(draft.status === 'draft', 'only a draft is reassembled');
  const { charges, commitments } = splitTrueUps(draft.lines);
  const priceOf = priceIdsOf(draft.lines);
  const terms = termsOf(context, draft.lines, timeZoneOf(draft.lines), priceOf);
  const amounts = assembled(draft.currency, { lines: charges, priceOf, commitments }, terms);
  const byId = new Map(draft.lines.map((line) => [line.id, line]));
  const drafts = amounts.lines.map(({ lineId }) => {
    const line = byId.get(lineId);
    invariant(line !== undefined, 'a reassembled draft keeps its lines');
    return line;
  });
  return {
    ...draft,
    ...amountsOf(amounts, terms),
    updatedAt: context.followsAt ?? draft.updatedAt,
    lines: linesOf(draft.id, drafts, amounts),
  };
}

/**
 * Calculates the invoice again from its stored coupons, tax rates, used credit and line traces (the steps by which each
 * amount was computed). A result that differs from the stored amounts is a defect.
 */
export function evaluateInvoice(invoice: Invoice): AssembledInvoice {
  const { charges, commitments } = splitTrueUps(invoice.lines);
  const { currency, createdAt } = invoice;
  return assembleInvoice({
    currency,
    lines: charges.map(({ id: lineId, kind, taxRateIds, trace }) => {
      const amountMinor = evaluate(trace);
      return { lineId, kind, amountMinor, currency, taxRateIds, ...ownTermsOf(trace, amountMinor) };
    }),
    commitments,
    coupons: invoice.coupons
      .filter(({ correctedFrom }) => correctedFrom === undefined)
      .map((coupon) => redeemed(coupon, priceIdsOf(invoice.lines))),
    taxRates: invoice.taxRates,
    taxTreatment: invoice.taxTreatment,
    creditGrants: invoice.credits.map(({ creditId, amountMinor: remainingMinor }) => {
      return { creditId, remainingMinor, currency, createdAt };
    }),
  });
}

/**
 * Separates true-ups from the other lines. Returns the other lines, and the minimums and maximums that caused true-ups.
 */
function splitTrueUps(lines: readonly InvoiceLine[]): {
  readonly charges: readonly InvoiceLine[];
  readonly commitments: readonly Commitment[];
} {
  const charges = lines.filter(({ trace }) => trace.kind !== 'true_up');
  const commitments = lines.flatMap((line): Commitment[] => {
    if (line.trace.kind !== 'true_up') return [];
    const counted = charges.filter(
      ({ kind, itemId, period }) =>
        kind !== 'credit' &&
        itemId === line.itemId &&
        period?.startAt.getTime() === line.period?.startAt.getTime(),
    );
    return [
      {
        lineId: line.id,
        countedLineIds: new Set(counted.map(({ id }) => id)),
        alreadyBilledMinor: 0n,
        minimumMinor: line.trace.minimumMinor,
        maximumMinor: line.trace.maximumMinor,
        proration: line.trace.proration,
        taxRateIds: line.taxRateIds,
      },
    ];
  });
  return { charges, commitments };
}

/**
 * Returns three results for an invoice:
 * - `amounts`: the amounts of all lines, including true-ups.
 * - `drafts`: the same lines in the same order.
 * - `terms`: the coupons, taxes and credit that were used.
 */
function priced(
  currency: string,
  { lines, commitments }: DecidedLines,
  context: BillingContext,
): {
  readonly amounts: AssembledInvoice;
  readonly drafts: readonly LineDraft[];
  readonly terms: AssemblyTerms;
} {
  const trueUps = commitments.map(({ lineId, of }) => ({ lineId, priceId: of.price.priceId }));
  const priceOf = [...priceIdsOf(lines), ...trueUps];
  // A true-up can be the only line of an invoice, for example the minimum of a period without usage.
  const timeZone = timeZoneOf([...lines, ...commitments.map(({ of }) => of)]);
  const terms = termsOf(context, lines, timeZone, priceOf);
  const amounts = assembled(currency, { lines, priceOf, commitments }, terms);
  const byId = new Map(lines.map((line) => [line.id, line]));
  const drafts = amounts.lines.map(({ lineId, kind, amountMinor }) => {
    const draft = byId.get(lineId);
    if (draft !== undefined) return draft;
    const commitment = commitments.find((one) => one.lineId === lineId);
    invariant(commitment !== undefined, 'each line is a requested line or a true-up');
    const billedMinor = lines
      .filter(({ id }) => commitment.countedLineIds.has(id))
      .reduce((total, { amount }) => total + amount, 0n);
    return trueUpLine(commitment, kind, amountMinor, billedMinor);
  });
  return { amounts, drafts, terms };
}

function assembled(
  currency: string,
  {
    lines,
    priceOf,
    commitments,
  }: {
    readonly lines: readonly LineDraft[];
    readonly priceOf: readonly PricedLine[];
    readonly commitments: readonly Omit<Commitment, 'taxRateIds'>[];
  },
  terms: AssemblyTerms,
): AssembledInvoice {
  const { taxRateIds } = terms;
  return assembleInvoice({
    currency,
    lines: lines.map(({ id: lineId, kind, amount: amountMinor, trace }) => ({
      lineId,
      kind,
      amountMinor,
      currency,
      taxRateIds,
      ...ownTermsOf(trace, amountMinor),
    })),
    commitments: commitments.map((commitment) => ({ ...commitment, taxRateIds })),
    coupons: terms.coupons.map((coupon) => redeemed(coupon, priceOf)),
    taxRates: terms.taxRates,
    taxTreatment: terms.taxTreatment,
    creditGrants: terms.creditGrants,
  });
}

interface PricedLine {
  readonly lineId: string;
  readonly priceId: string | null;
}

function priceIdsOf(lines: readonly Pick<LineDraft, 'id' | 'priceId'>[]): readonly PricedLine[] {
  return lines.map(({ id: lineId, priceId }) => ({ lineId, priceId }));
}

interface AssemblyTerms {
  readonly coupons: ReturnType<typeof couponsOf>;
  /**
   * Coupon entries for the usage corrections on the invoice: discounts that these corrections took from coupons or
   * returned.
   */
  readonly correctedCoupons: readonly InvoiceCoupon[];
  readonly taxRateIds: readonly string[];
  /** Tax rates of the charges, and tax rates that credits and usage corrections keep from earlier bills. */
  readonly taxRates: readonly InvoiceRateTerms[];
  readonly taxTreatment: TaxTreatment;
  readonly creditGrants: readonly CreditGrant[];
}

function termsOf(
  context: BillingContext,
  lines: readonly LineDraft[],
  timeZone: string,
  pricedLines: readonly PricedLine[],
): AssemblyTerms {
  const rates = new Map(context.taxRates.map((rate) => [rate.taxRateId, rate]));
  const ownRates = lines.flatMap(({ trace }) => ownRatesOf(trace));
  for (const { taxRateId, name, percentage, inclusive } of ownRates) {
    if (!rates.has(taxRateId)) rates.set(taxRateId, { taxRateId, name, percentage, inclusive });
  }
  const priceIds = new Set(pricedLines.map(({ priceId }) => priceId));
  const correctedCoupons = correctedCouponsOf(lines, context.correctedCoupons ?? new Map());
  return {
    coupons: couponsOf(context, lines, timeZone, priceIds, correctedCoupons),
    correctedCoupons,
    taxRateIds: context.taxRates.map(({ taxRateId }) => taxRateId),
    taxRates: [...rates.values()],
    taxTreatment: context.taxTreatment,
    creditGrants: context.creditGrants,
  };
}

export type InvoiceTotals = Pick<
  Invoice,
  | 'subtotal'
  | 'discount'
  | 'tax'
  | 'inclusiveTax'
  | 'total'
  | 'creditApplied'
  | 'creditedToBalance'
  | 'amountDue'
>;

export function totalsOf(amounts: AssembledInvoice): InvoiceTotals {
  return {
    subtotal: amounts.subtotalMinor,
    discount: amounts.discountMinor,
    tax: amounts.exclusiveTaxMinor,
    inclusiveTax: amounts.inclusiveTaxMinor,
    total: amounts.totalMinor,
    creditApplied: amounts.creditAppliedMinor,
    creditedToBalance: amounts.creditedToBalanceMinor,
    amountDue: amounts.amountDueMinor,
  };
}

function amountsOf(amounts: AssembledInvoice, context: AssemblyTerms) {
  return {
    ...totalsOf(amounts),
    taxTreatment: context.taxTreatment,
    credits: amounts.credits,
    taxRates: context.taxRates.map((rate) => {
      const total = amounts.taxRates.find(({ taxRateId }) => taxRateId === rate.taxRateId);
      const { taxableMinor, taxMinor } = total ?? { taxableMinor: 0n, taxMinor: 0n };
      return { ...rate, taxableMinor, taxMinor };
    }),
    coupons: [
      ...context.coupons.map((coupon) => {
        const applied = amounts.coupons.find((one) => one.redemptionId === coupon.redemptionId);
        return { ...coupon, amountMinor: applied?.amountMinor ?? 0n };
      }),
      ...context.correctedCoupons,
    ],
  };
}

function linesOf(
  invoiceId: string,
  drafts: readonly LineDraft[],
  amounts: AssembledInvoice,
): readonly InvoiceLine[] {
  return amounts.lines.map((line, position) => {
    const draft = drafts[position];
    invariant(draft?.id === line.lineId, 'drafts and amounts are in one order');
    return {
      ...draft,
      invoiceId,
      position,
      amount: line.amountMinor,
      discount: line.discountMinor,
      net: line.netMinor,
      tax: line.taxMinor,
      isReleased: false,
      credited: 0n,
      creditedNet: 0n,
      creditedTaxShares: [],
      taxRateIds: line.taxRateIds,
      taxShares: line.taxShares,
      discountShares: line.discountShares,
    };
  });
}
