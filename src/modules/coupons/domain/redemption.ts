import type { AppliedCoupon, RedeemedCoupon } from '../../../core/discount';
import { periodAt } from '../../../core/time';
import type { Coupon } from './coupon';

/** A coupon given to a subscription. */
export interface CouponRedemption {
  readonly id: string;
  readonly couponId: string;
  readonly subscriptionId: string;
  readonly customerId: string;
  /** Of the subscription; ISO 4217. */
  readonly currency: string;
  readonly redeemedAt: Date;
  /** First instant at which it no longer counts; null but for duration `repeating`. */
  readonly endsAt: Date | null;
  /** Minor units that are left of an amount that lasts `once`; null for any other coupon. */
  readonly remainingAmount: bigint | null;
  /** Minor units taken off so far. */
  readonly appliedAmount: bigint;
  /** Set once it counts no more: it was used up, taken away, or its subscription ended. */
  readonly endedAt: Date | null;
}

/** A redemption with the coupon whose terms it goes by; they never change. */
export interface RedeemedTerms {
  readonly redemption: CouponRedemption;
  readonly coupon: Coupon;
}

/** What a coupon is to be redeemed on. */
export interface RedemptionRequest {
  /** What the customer typed. */
  readonly code: string;
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly planId: string;
  /** Of the subscription; ISO 4217. */
  readonly currency: string;
  /** IANA zone of the customer, in which the months of a repeating coupon are counted. */
  readonly timeZone: string;
}

export type RedemptionRefusal =
  'inactive' | 'expired' | 'exhausted' | 'not_for_plan' | 'currency_mismatch';

/** Why a coupon cannot be redeemed now; null: it can. It is good up to and including the instant `redeemBy`. */
export function refusalOf(
  coupon: Coupon,
  { planId, currency }: Pick<RedemptionRequest, 'planId' | 'currency'>,
  now: Date,
): RedemptionRefusal | null {
  if (!coupon.isActive) return 'inactive';
  if (coupon.redeemBy !== null && now > coupon.redeemBy) return 'expired';
  if (coupon.maxRedemptions !== null && coupon.timesRedeemed >= coupon.maxRedemptions) {
    return 'exhausted';
  }
  if (coupon.planIds.length > 0 && !coupon.planIds.includes(planId)) return 'not_for_plan';
  if (coupon.currency !== null && coupon.currency !== currency) return 'currency_mismatch';
  return null;
}

/** The redemption of a coupon that nothing refuses. */
export function redemptionOf(
  id: string,
  coupon: Coupon,
  request: RedemptionRequest,
  now: Date,
): CouponRedemption {
  const { subscriptionId, customerId, currency } = request;
  return {
    id,
    couponId: coupon.id,
    subscriptionId,
    customerId,
    currency,
    redeemedAt: now,
    endsAt: endOf(coupon, now, request.timeZone),
    remainingAmount: coupon.duration === 'once' ? coupon.amountOff : null,
    appliedAmount: 0n,
    endedAt: null,
  };
}

/** A repeating coupon counts for its months from the redemption, by the customer's calendar. */
function endOf(coupon: Coupon, redeemedAt: Date, timeZone: string): Date | null {
  if (coupon.durationInMonths === null) return null;
  const months = {
    mode: 'anniversary',
    startAt: redeemedAt,
    timeZone,
    interval: 'month',
    intervalCount: coupon.durationInMonths,
  } as const;
  return periodAt(months, 0).endAt;
}

/** Whether a redemption counts at an instant. */
export function isRunning(redemption: CouponRedemption, at: Date): boolean {
  const { redeemedAt, endsAt, endedAt } = redemption;
  return redeemedAt <= at && (endsAt === null || at < endsAt) && (endedAt === null || at < endedAt);
}

/** Whether nothing is left of a redemption that lasts `once`: an invoice took all of it. */
export function isUsedUp({ redemption, coupon }: RedeemedTerms): boolean {
  if (coupon.duration !== 'once') return false;
  const { remainingAmount, appliedAmount } = redemption;
  return remainingAmount === null ? appliedAmount > 0n : remainingAmount === 0n;
}

/**
 * What becomes of a redemption when an invoice took something off by it. One that lasts `once` is used up by a percentage,
 * and by an amount once nothing is left of it; an invoice that it took nothing off does not use it up.
 */
export function withApplied(
  { redemption, coupon }: RedeemedTerms,
  applied: Pick<AppliedCoupon, 'amountMinor' | 'unusedMinor'>,
  now: Date,
): CouponRedemption {
  if (applied.amountMinor === 0n) return redemption;
  const isOnce = coupon.duration === 'once';
  return {
    ...redemption,
    appliedAmount: redemption.appliedAmount + applied.amountMinor,
    remainingAmount: redemption.remainingAmount === null ? null : applied.unusedMinor,
    endedAt: isOnce && applied.unusedMinor === 0n ? now : redemption.endedAt,
  };
}

/** The redemption as the rules of discounts know it: for every line of the invoice. */
export function toRedeemedCoupon({ redemption, coupon }: RedeemedTerms): RedeemedCoupon {
  return {
    redemptionId: redemption.id,
    redeemedAt: redemption.redeemedAt,
    duration: coupon.duration,
    lineIds: 'all',
    off:
      coupon.percentOff === null
        ? {
            type: 'amount',
            amountOffMinor: redemption.remainingAmount ?? coupon.amountOff ?? 0n,
          }
        : { type: 'percent', percentOff: coupon.percentOff },
  };
}
