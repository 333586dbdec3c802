import { invariant } from '../../../core/invariant';
import type { RedeemedCoupon } from '../../../core/discount';
import { nonNegative } from '../../../core/money';
import { earliest, monthsAfter, type Period } from '../../../core/time';
import { correctedDiscounts } from './corrected-discounts';
import { returnedBy } from './held-lines';
import type { HeldDiscount } from './held-terms';
import type { InvoiceCoupon } from './invoice';
import type { LineDraft } from './line-draft';

export type InvoiceCouponTerms = Omit<InvoiceCoupon, 'amountMinor'>;

/** A redeemed coupon, with its state before an invoice is calculated. Amounts are in minor units. */
export interface CouponContext {
  readonly redemptionId: string;
  readonly redeemedAt: Date;
  readonly duration: 'once' | 'repeating' | 'forever';
  readonly percentOff: string | null;
  /** Amount off per billing period, or for all invoices together if the duration is `once`; null for a percentage. */
  readonly amountOffMinor: bigint | null;
  /**
   * Set only for duration `once`:
   * - amount coupon: its remaining amount; null if the coupon was never used. Negative if more was taken off than the
   *   coupon gives.
   * - percentage: the discounts that credits returned to the coupon; null if there are none.
   */
  readonly remainingMinor: bigint | null;
  /**
   * Discounts on other invoices of the billing period, less the discounts that credits and usage corrections returned
   * to the coupon.
   */
  readonly takenMinor: bigint;
  /** True if the duration is `once` and an invoice has used up the coupon. */
  readonly isUsedUp: boolean;
  readonly months: number | null;
  /** End of the months in which a repeating coupon applies; null for other durations, and until the first discount. */
  readonly endsAt: Date | null;
  /** Prices of the plans that the coupon is limited to; null if it discounts all lines. */
  readonly priceIds: ReadonlySet<string> | null;
}

export interface CouponsInPeriod {
  readonly coupons: readonly CouponContext[];
  readonly billingPeriod: Period | null;
}

/** Returns true if the period contains the instant. Even an empty period contains its start. */
function isWithin(instant: Date | null, period: Period | null): boolean {
  if (instant === null || period === null) return false;
  const isStart = instant.getTime() === period.startAt.getTime();
  return isStart || (instant > period.startAt && instant < period.endAt);
}

/**
 * Returns the coupons of an invoice, each with the amount that it may take off. Credits and usage corrections on the
 * same invoice change this amount. The discounts that they returned to the coupon are added, and the discounts that
 * corrections took are subtracted. Only discounts of the billing period count, except for duration `once`.
 *
 * @param timeZone time zone of the subscription
 * @param usedBefore coupon entries that the invoice stores for its usage corrections
 */
export function couponsOf(
  { coupons, billingPeriod }: CouponsInPeriod,
  lines: readonly Pick<LineDraft, 'amount' | 'trace'>[],
  timeZone: string,
  priceIds: ReadonlySet<string | null>,
  usedBefore: readonly InvoiceCoupon[],
): readonly InvoiceCouponTerms[] {
  const credited = lines.filter(({ trace }) => trace.kind === 'credit').flatMap(returnedBy);
  const corrected = correctedDiscounts(lines);
  return coupons.flatMap((coupon) => {
    const { redemptionId, redeemedAt, duration, percentOff, priceIds: scope } = coupon;
    if (!isWithinMonths(coupon, billingPeriod)) return [];
    const before = usedBefore.filter((one) => one.redemptionId === redemptionId);
    const isUsed = isUsedByCorrections(coupon, billingPeriod, timeZone, before);
    const canBeUsed = ({ billedFrom }: Pick<HeldDiscount, 'billedFrom'>): boolean =>
      duration === 'once' || isWithin(billedFrom, billingPeriod);
    const returnedMinor = credited
      .filter((share) => share.redemptionId === redemptionId)
      .filter(canBeUsed)
      .reduce((total, { amountMinor }) => total + amountMinor, 0n);
    // Usage corrections have coupon entries of their own, but use the same remaining amount.
    const correctedMinor = corrected
      .filter((one) => one.redemptionId === redemptionId)
      .filter(canBeUsed)
      .reduce((total, one) => total + one.returnedMinor - one.fromRemainingMinor, 0n);
    if (coupon.isUsedUp && returnedMinor + correctedMinor <= 0n) return [];
    const left = isUsed ? 0n : remainingDiscountOf(coupon, returnedMinor + correctedMinor);
    return [
      {
        redemptionId,
        redeemedAt,
        duration,
        percentOff,
        returnedMinor,
        amountOffMinor: percentOff === null ? left : null,
        mostMinor: percentOff === null ? null : left,
        priceIds:
          scope === null ? null : [...scope].filter((priceId) => priceIds.has(priceId)).sort(),
        endsAt: endOfMonths(coupon, billingPeriod, timeZone),
        appliedFrom: billingPeriod?.startAt ?? null,
      },
    ];
  });
}

/**
 * Returns false if the months of a repeating coupon end before the billing period starts. A draft can have such a
 * coupon if another invoice used the coupon first, after the draft was made.
 */
function isWithinMonths({ endsAt }: CouponContext, billingPeriod: Period | null): boolean {
  return endsAt === null || billingPeriod === null || billingPeriod.startAt < endsAt;
}

/**
 * Returns true if the usage corrections of an invoice leave nothing of a coupon for the other charges of the invoice.
 * This is so in two cases:
 * - The corrections were the first use of a percentage with duration `once`.
 * - The corrections discounted another period, and the months of the coupon cannot include both that period and the
 *   billing period of the invoice.
 *
 * The coupon still stays on a draft. If another invoice bills the late usage first, the draft can use the coupon.
 */
function isUsedByCorrections(
  coupon: CouponContext,
  billingPeriod: Period | null,
  timeZone: string,
  corrected: readonly InvoiceCoupon[],
): boolean {
  const used = corrected.filter(({ amountMinor }) => amountMinor > 0n);
  if (used.some(({ begins }) => begins === true)) return true;
  const ownEndsAt = endOf(coupon, billingPeriod?.startAt ?? null, timeZone);
  if (billingPeriod === null || ownEndsAt === null) return false;
  return used.some(
    ({ endsAt = null, appliedFrom = null }) =>
      (endsAt !== null && endsAt <= billingPeriod.startAt) ||
      (appliedFrom !== null && appliedFrom >= ownEndsAt),
  );
}

/** Returns the time zone of the subscription that is billed; `UTC` if no line has a time zone. */
export function timeZoneOf(lines: readonly Pick<LineDraft, 'timeZone'>[]): string {
  return lines.find((line) => line.timeZone !== null)?.timeZone ?? 'UTC';
}

/** Returns the amount that a coupon may still take off, never negative; null for a percentage without a limit. */
export function remainingDiscountOf(coupon: CouponContext, returnedMinor: bigint): bigint | null {
  const leftMinor = leftOf(coupon);
  return leftMinor === null ? null : nonNegative(leftMinor + returnedMinor);
}

/**
 * Returns what is left of a coupon; null for a percentage without a limit. Negative if invoices used a returned
 * discount again, and the invoice that had returned it was voided afterwards.
 */
export function leftOf(coupon: CouponContext): bigint | null {
  const { duration, percentOff, amountOffMinor, remainingMinor, takenMinor, isUsedUp } = coupon;
  if (percentOff !== null) {
    const isLimited = duration === 'once' && (isUsedUp || remainingMinor !== null);
    return isLimited ? (remainingMinor ?? 0n) : null;
  }
  invariant(amountOffMinor !== null, 'a coupon takes off a percentage or an amount');
  return duration === 'once' ? (remainingMinor ?? amountOffMinor) : amountOffMinor - takenMinor;
}

/**
 * Returns the end of the coupon's months. They begin with the given billing period, or with an earlier period that the
 * coupon already discounted. Null if the coupon has no months, or if neither period is known.
 */
function endOfMonths(
  coupon: CouponContext,
  billingPeriod: Period | null,
  timeZone: string,
): Date | null {
  return earliest([coupon.endsAt, endOf(coupon, billingPeriod?.startAt ?? null, timeZone)]);
}

/**
 * Returns the end of a repeating coupon's months if they begin at `startAt`. Null for any other coupon, or if `startAt`
 * is null.
 */
export function endOf(
  { months }: Pick<CouponContext, 'months'>,
  startAt: Date | null,
  timeZone: string,
): Date | null {
  if (months === null || startAt === null) return null;
  return monthsAfter(startAt, months, timeZone);
}

export function redeemed(
  coupon: Omit<InvoiceCouponTerms, 'endsAt'>,
  lines: readonly { readonly lineId: string; readonly priceId: string | null }[],
): RedeemedCoupon {
  const { redemptionId, redeemedAt, duration, percentOff, amountOffMinor, mostMinor } = coupon;
  invariant(
    (percentOff === null) !== (amountOffMinor === null),
    'a coupon takes off a percentage or an amount',
  );
  const { priceIds = null } = coupon;
  return {
    redemptionId,
    redeemedAt,
    duration,
    lineIds:
      priceIds === null
        ? 'all'
        : new Set(
            lines
              .filter(({ priceId }) => priceId !== null && priceIds.includes(priceId))
              .map(({ lineId }) => lineId),
          ),
    off:
      percentOff !== null
        ? { type: 'percent', percentOff, limitMinor: mostMinor ?? null }
        : { type: 'amount', amountOffMinor: amountOffMinor ?? 0n },
  };
}
