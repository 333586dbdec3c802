import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import type { Period } from '../../core/time';
import { RedemptionsService } from '../coupons';
import {
  BilledLinesRepository,
  type DiscountedSpan,
  type TakenDiscount,
} from './billed-lines.repository';
import { CouponContextsService, hasAmountPerPeriod } from './coupon-contexts.service';
import type { BillTerms } from './domain/billed-by';
import { type CorrectedCoupon, couponKey, isPercentOnce } from './domain/corrected-coupon';
import type { CorrectedBills } from './domain/correction-terms';
import { endOf } from './domain/decide-coupons';
import { heldOf } from './domain/held-lines';
import type { CountedUsage } from './domain/decide-usage-lines';
import {
  billedAmounts,
  type FirstBill,
  isFirstBillLine,
  highestBilledAmount,
  usagePeriodKey,
  currentTerms,
  termsOfBill,
} from './domain/first-bill';
import type { Invoice, InvoiceLine } from './domain/invoice';
import type { UsageLineRequest } from './domain/line-item-request';
import type { BillingRequest } from './domain/billing-request';
import { InvoicesRepository } from './invoices.repository';

export interface CorrectingRequest {
  readonly request: Pick<BillingRequest, 'subscriptionId' | 'periods'>;
  readonly usage: readonly CountedUsage[];
}

interface LateReading {
  readonly request: CorrectingRequest['request'];
  readonly counted: CountedUsage;
}

/**
 * Late usage, with the invoice that first billed its period, and the discounts and taxes of that bill (`terms`).
 * `invoice` is null if that invoice is void, or if no invoice has a line for the usage.
 */
interface CorrectedBill extends LateReading {
  readonly terms: BillTerms;
  readonly invoice: Invoice | null;
}

/** A coupon of an earlier invoice, to be read with its discounts. That invoice's period starts at `billedFrom`. */
interface RequestedDiscount {
  readonly request: CorrectingRequest['request'];
  readonly timeZone: string;
  readonly redemptionId: string;
  readonly billedFrom: Date | null;
}

type History = ReadonlyMap<string, readonly InvoiceLine[]>;

/** Reads the earlier bills that late usage corrects, because their discounts and taxes also apply to the correction. */
@Injectable()
export class FirstBillsService {
  constructor(
    private readonly billed: BilledLinesRepository,
    private readonly invoices: InvoicesRepository,
    private readonly redemptions: RedemptionsService,
    private readonly coupons: CouponContextsService,
  ) {}

  /**
   * Returns, for each late usage, the first bill of its period. Also returns the coupons of these bills, and the
   * coupons that discounted the lines to correct.
   */
  async load(requests: readonly CorrectingRequest[]): Promise<CorrectedBills> {
    const late = requests.flatMap(({ request: request, usage }) =>
      usage.filter(({ billed }) => billed !== null).map((counted) => ({ request, counted })),
    );
    if (late.length === 0) return NOTHING_CORRECTED;
    const bills = await this.billsOf(late);
    const correctedCoupons = await this.couponsOf([
      ...late.flatMap(discountsOf),
      ...bills.flatMap(({ request, counted, terms: { coupons, billedFrom } }) => {
        const { timeZone } = counted.request;
        return coupons.map(({ redemptionId }) => ({ request, redemptionId, billedFrom, timeZone }));
      }),
    ]);
    const history = await this.historyOf(bills);
    const firstBills = new Map(
      bills.map((bill) => [bill.counted.request, firstBillOf(bill, history, correctedCoupons)]),
    );
    return { firstBills, correctedCoupons };
  }

  private async billsOf(late: readonly LateReading[]): Promise<readonly CorrectedBill[]> {
    const invoiceIds = await this.billed.firstInvoices(late.map(({ counted }) => counted.request));
    const latest = await this.billed.latestOf([
      ...new Set(late.flatMap(({ counted: { request } }) => request.billTerms?.invoiceId ?? [])),
    ]);
    const invoices = await this.invoices.findAll([
      ...new Set([...invoiceIds.values(), ...latest.values()]),
    ]);
    const byId = new Map(invoices.map((invoice) => [invoice.id, invoice]));
    return late.flatMap(({ request, counted }) => {
      const usage = counted.request;
      const found = byId.get(invoiceIds.get(usagePeriodKey(usage)) ?? '') ?? null;
      const invoice = found?.status === 'void' ? null : found;
      const ofLine = found === null ? undefined : termsOfLine(found, usage);
      const kept = usage.billTerms;
      const keptBy = byId.get(latest.get(kept?.invoiceId ?? '') ?? '');
      const ofEmpty = kept === undefined ? undefined : currentTerms(kept, keptBy);
      const terms = invoice === null ? (ofEmpty ?? ofLine) : ofLine;
      return terms === undefined ? [] : [{ request, counted, invoice, terms }];
    });
  }

  /**
   * Returns the usage lines of finalized, non-void invoices, by {@link usagePeriodKey}: for the items and periods of
   * the late usage, and of the corrected invoices.
   */
  private async historyOf(bills: readonly CorrectedBill[]): Promise<History> {
    const usage = bills.flatMap(({ counted, invoice }) => [
      counted.request,
      ...(invoice?.lines ?? []).flatMap(({ kind, itemId, period }) =>
        kind === 'credit' || itemId === null || period === null ? [] : [{ itemId, period }],
      ),
    ]);
    const bySubject = new Map(usage.map((one) => [usagePeriodKey(one), one]));
    const lines = await this.billed.history([...bySubject.values()]);
    return groupBy(lines, ({ itemId, period }) =>
      itemId === null || period === null ? '' : usagePeriodKey({ itemId, period }),
    );
  }

  private async couponsOf(
    requested: readonly RequestedDiscount[],
  ): Promise<CorrectedBills['correctedCoupons']> {
    const terms = await this.redemptions.getAll(requested.map(({ redemptionId }) => redemptionId));
    const contexts = await this.coupons.contextsOf([...terms.values()], new Map());
    const contextOf = new Map(contexts.map((context) => [context.redemptionId, context]));
    const ofPeriods = requested.flatMap(({ request, redemptionId, billedFrom }) => {
      const one = terms.get(redemptionId);
      const period = periodOf(request, billedFrom);
      const { subscriptionId } = request;
      if (one === undefined || !(hasAmountPerPeriod(one) || isPercentOnce(one.coupon))) return [];
      return period === null || subscriptionId === null ? [] : [{ subscriptionId, period }];
    });
    const byPeriod = new Map(
      ofPeriods.map((one) => [`${one.subscriptionId} ${one.period.startAt.getTime()}`, one]),
    );
    const found = await this.billed.discountsTaken([...byPeriod.values()]);
    const takenOf = (redemptionId: string, startAt: Date | null): TakenDiscount | undefined =>
      found.find(
        (one) =>
          one.redemptionId === redemptionId && one.periodStartAt.getTime() === startAt?.getTime(),
      );
    const repeating = requested.filter(
      ({ redemptionId }) => contextOf.get(redemptionId)?.duration === 'repeating',
    );
    const spans = await this.spansOf(repeating);
    return new Map(
      requested.flatMap(({ request, redemptionId, billedFrom, timeZone }) => {
        const context = contextOf.get(redemptionId);
        if (context === undefined) return [];
        const periodStartAt = periodOf(request, billedFrom)?.startAt ?? null;
        const taken = takenOf(redemptionId, periodStartAt);
        const coupon: CorrectedCoupon = {
          ...context,
          billedFrom,
          periodStartAt,
          ownEndsAt: endOf(context, periodStartAt, timeZone),
          lastAt: spans.get(redemptionId)?.lastAt ?? null,
          takenMinor: taken?.takenMinor ?? 0n,
          isDiscounted: taken?.isDiscounted ?? false,
          isFirstUsedByCorrection: taken?.isFirstUsedByCorrection ?? false,
        };
        return [[couponKey(redemptionId, billedFrom), coupon] as const];
      }),
    );
  }

  private async spansOf(
    requested: readonly RequestedDiscount[],
  ): Promise<ReadonlyMap<string, DiscountedSpan>> {
    const ids = new Set(requested.flatMap(({ request }) => request.subscriptionId ?? []));
    return ids.size === 0 ? new Map() : this.billed.discountedSpans([...ids], null);
  }
}

const NOTHING_CORRECTED: CorrectedBills = { firstBills: new Map(), correctedCoupons: new Map() };

/** Returns the discounts on the lines that late usage corrects. A correction may return them to their coupons. */
function discountsOf({ request, counted }: LateReading): readonly RequestedDiscount[] {
  const { discounts } = heldOf(counted.billed?.lines ?? []);
  const { timeZone } = counted.request;
  return discounts.map(({ redemptionId, billedFrom }) => {
    return { request, redemptionId, billedFrom, timeZone };
  });
}

/**
 * Returns the billing period that contains `billedFrom`, the period start of an earlier invoice. If the request has no
 * such billing period, returns an empty period at `billedFrom`. Null if `billedFrom` is null.
 */
function periodOf(
  { subscriptionId, periods }: CorrectingRequest['request'],
  billedFrom: Date | null,
): Period | null {
  if (billedFrom === null) return null;
  const found = periods
    ?.get(subscriptionId ?? '')
    ?.find(({ startAt, endAt }) => startAt <= billedFrom && billedFrom < endAt);
  return found ?? { startAt: billedFrom, endAt: billedFrom };
}

/**
 * Returns the discounts and taxes with which an invoice first billed this usage; undefined if no line of the invoice
 * first billed the usage.
 */
function termsOfLine(invoice: Invoice, request: UsageLineRequest): BillTerms | undefined {
  const line = invoice.lines.find(
    ({ itemId, period, ...one }) =>
      itemId !== null &&
      period !== null &&
      isFirstBillLine(one) &&
      usagePeriodKey({ itemId, period }) === usagePeriodKey(request),
  );
  return line === undefined ? undefined : termsOfBill(invoice, line.taxRateIds);
}

function firstBillOf(
  { counted: { request, billed }, terms, invoice }: CorrectedBill,
  history: History,
  contexts: CorrectedBills['correctedCoupons'],
): FirstBill {
  const subject = usagePeriodKey(request);
  const { billedFrom, taxTreatment, taxes } = terms;
  const coupons = terms.coupons.flatMap((coupon) => {
    const context = contexts.get(couponKey(coupon.redemptionId, billedFrom));
    return context === undefined ? [] : [{ ...context, ...coupon }];
  });
  const { priceId } = request.price;
  return {
    id: invoice?.id ?? subject,
    billedFrom,
    taxTreatment,
    taxes,
    coupons,
    amounts:
      invoice === null
        ? [{ key: subject, priceId, amountMinor: billed?.amountMinor ?? 0n }]
        : billedAmounts(invoice, [...history.values()].flat()),
    highestBilledMinor: highestBilledAmount(history.get(subject) ?? []),
  };
}
