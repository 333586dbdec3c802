import { greater, lesser, nonNegative } from '../../../core/money';
import { earliest } from '../../../core/time';
import type { Coupon } from './coupon';

export interface CouponRedemption {
  readonly id: string;
  readonly couponId: string;
  readonly subscriptionId: string;
  readonly customerId: string;
  /** Currency of the subscription; ISO 4217. */
  readonly currency: string;
  /**
   * When the coupon was redeemed. The coupons of a subscription apply in this order. No two of them have the same time
   * ({@link redeemedAfter}).
   */
  readonly redeemedAt: Date;
  /**
   * End of the discounted months: `duration_in_months` after the start of the first discounted period. Periods that
   * start at this instant or later are not discounted. Null: no period was discounted yet, or the duration is not
   * `repeating`.
   */
  readonly endsAt: Date | null;
  /**
   * Amount that a coupon with duration `once` can still take off, in minor units. Null for other durations.
   * - Coupon with a fixed amount: the unused part of the amount.
   * - Coupon with a percentage: the returned discounts that the coupon can give again. A credit or usage correction of
   *   a discounted charge returns its discount. Null if no discount was returned.
   */
  readonly remainingAmount: bigint | null;
  /** Discounts given so far minus returned discounts, in minor units. */
  readonly appliedAmount: bigint;
  /**
   * Discounts on usage corrections of a void invoice, in minor units. `appliedAmount` does not include them. Only for a
   * percentage with duration `once`, otherwise 0. Example: invoice A uses the percentage, and invoice B corrects usage
   * of A. Voiding A makes the percentage unused again, but B keeps its discount.
   */
  readonly correctionsAmount: bigint;
  /** When the redemption was used up or removed, or when its subscription ended; null: it has not ended. */
  readonly endedAt: Date | null;
  /**
   * When the coupon was removed by request; null: not removed. A removed redemption stays ended, even if a credit
   * returns a discount.
   */
  readonly removedAt: Date | null;
}

/** A redemption with its coupon, whose terms are immutable. */
export interface RedeemedTerms {
  readonly redemption: CouponRedemption;
  readonly coupon: Coupon;
}

export interface EndedSubscription {
  readonly id: string;
  readonly endedAt: Date;
}

export interface RedemptionRequest {
  readonly code: string;
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly planId: string;
  readonly currency: string;
}

export type RedemptionRefusal =
  'inactive' | 'expired' | 'exhausted' | 'not_for_plan' | 'currency_mismatch';

/** Returns the reason why a coupon cannot be redeemed; null if it can be redeemed. `redeemBy` is inclusive. */
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

/**
 * Returns the time to record for a new redemption: `now`, or 1 ms after the last redemption of the subscription if that
 * is later. The last redemption can be at `now` or later, because clocks of processes differ and a test clock can stand
 * still.
 * @param before all redemptions of the subscription
 */
export function redeemedAfter(
  before: readonly Pick<CouponRedemption, 'redeemedAt'>[],
  now: Date,
): Date {
  return new Date(Math.max(now.getTime(), ...before.map((one) => one.redeemedAt.getTime() + 1)));
}

/** Returns a new redemption. Does not check the coupon: call {@link refusalOf} first. */
export function redemptionOf(
  id: string,
  coupon: Coupon,
  request: RedemptionRequest,
  redeemedAt: Date,
): CouponRedemption {
  const { subscriptionId, customerId, currency } = request;
  return {
    id,
    couponId: coupon.id,
    subscriptionId,
    customerId,
    currency,
    redeemedAt,
    endsAt: null,
    remainingAmount: coupon.duration === 'once' ? coupon.amountOff : null,
    appliedAmount: 0n,
    correctionsAmount: 0n,
    endedAt: null,
    removedAt: null,
  };
}

/** Returns the redemption as removed at `now`, or at `redeemedAt` if that is later. */
export function removed(
  redemption: CouponRedemption,
  now: Date,
): CouponRedemption & { readonly removedAt: Date } {
  const removedAt = endOf(redemption, now);
  return { ...redemption, endedAt: redemption.endedAt ?? removedAt, removedAt };
}

/** Returns the end to record: `now`, or `redeemedAt` if that is later. */
function endOf({ redeemedAt }: CouponRedemption, now: Date): Date {
  return redeemedAt > now ? redeemedAt : now;
}

/**
 * Returns true if a billing period that starts at `startAt` lies within the discounted months. Does not check whether
 * the coupon is used up or was removed.
 */
export function discountsPeriodFrom({ endsAt }: CouponRedemption, startAt: Date): boolean {
  return endsAt === null || startAt < endsAt;
}

/**
 * Returns true if a coupon with duration `once` has nothing left to take off:
 * - `remainingAmount` is 0, or
 * - the coupon is a percentage that gave a discount, and no discount was returned.
 */
export function isUsedUp({ redemption, coupon }: RedeemedTerms): boolean {
  if (coupon.duration !== 'once') return false;
  const { remainingAmount, appliedAmount } = redemption;
  return remainingAmount === null ? appliedAmount > 0n : remainingAmount === 0n;
}

/** Returns true if a percentage with duration `once` has discounted an invoice, even if the discount was returned. */
export function isUsedPercentage({ redemption, coupon }: RedeemedTerms): boolean {
  if (coupon.duration !== 'once' || coupon.percentOff === null) return false;
  return redemption.remainingAmount !== null || redemption.appliedAmount > 0n;
}

function isUnusedPercentage(terms: RedeemedTerms): boolean {
  const { duration, percentOff } = terms.coupon;
  return duration === 'once' && percentOff !== null && !isUsedPercentage(terms);
}

/** Effect of an invoice on a redemption, in minor units. */
export interface AppliedRedemption {
  readonly redemptionId: string;
  /** Discount that the redemption gave on the invoice. */
  readonly amountMinor: bigint;
  /** Discount that credits and usage corrections on the invoice returned, and that the coupon can give again. */
  readonly returnedMinor: bigint;
  /** Discount that credits and usage corrections took back, but that cannot be given again. Not in `returnedMinor`. */
  readonly unusableMinor: bigint;
  /**
   * Amount that the coupon can take off later invoices. For a fixed amount, its unused part. For a percentage, the
   * returned discounts that were not given again. 0 if the duration is not `once`.
   */
  readonly unusedMinor: bigint;
  /**
   * For duration `repeating`: end of the discounted months, counted from the first period that the invoice discounts.
   * Null for other durations, or if the invoice discounts no period.
   */
  readonly endsAt: Date | null;
}

/**
 * Returns the redemption after an invoice that gave or returned a discount. A redemption with duration `once` ends when
 * a percentage is first used, or when a fixed amount is used up. It becomes active again if a discount that
 * can be used again is returned, unless the coupon was removed.
 */
export function withApplied(
  { redemption, coupon }: RedeemedTerms,
  { amountMinor, returnedMinor, unusableMinor, unusedMinor, endsAt }: AppliedRedemption,
  now: Date,
): CouponRedemption {
  const changesRest = amountMinor > 0n || returnedMinor > 0n;
  if (!changesRest && unusableMinor === 0n) return redemption;
  // The invoice that used the percentage was voided, so the percentage is unused again. A later usage correction of
  // that invoice returns a discount. The returned discount must not limit the next use of the percentage.
  const { correctionsAmount } = redemption;
  const changeMinor = amountMinor - returnedMinor - unusableMinor;
  if (amountMinor === 0n && isUnusedPercentage({ redemption, coupon }))
    return { ...redemption, correctionsAmount: greater(correctionsAmount + changeMinor, 0n) };
  const appliedMinor = redemption.appliedAmount + changeMinor;
  // A percentage stays used if all its discounts return and none can be used again.
  const isLimited = coupon.amountOff !== null || returnedMinor + unusableMinor > 0n;
  const isLeft = redemption.remainingAmount !== null || (coupon.duration === 'once' && isLimited);
  const rest = changesRest ? unusedMinor : (redemption.remainingAmount ?? 0n);
  const after = {
    ...redemption,
    appliedAmount: greater(appliedMinor, 0n),
    correctionsAmount:
      appliedMinor < 0n ? greater(correctionsAmount + appliedMinor, 0n) : correctionsAmount,
    remainingAmount: isLeft ? rest : null,
    endsAt: amountMinor > 0n ? earliest([redemption.endsAt, endsAt]) : redemption.endsAt,
  };
  return coupon.duration === 'once'
    ? endedIfUsedUp(redemption, { redemption: after, coupon }, now)
    : after;
}

/**
 * Returns the amount that a coupon with duration `once` can still take off.
 * - Percentage: `remainingAmount`.
 * - Fixed amount: `remainingAmount`, but at most the fixed amount minus the discounts in effect. Negative if the
 *   discounts in effect exceed the fixed amount. Example: a credit returns a discount, another invoice uses the
 *   discount again, and the invoice with the credit is voided. Discounts that return later first reduce the excess.
 */
export function restOf({ redemption, coupon }: RedeemedTerms): bigint | null {
  const { remainingAmount, appliedAmount } = redemption;
  if (remainingAmount === null || coupon.amountOff === null) return remainingAmount;
  return lesser(remainingAmount, coupon.amountOff - appliedAmount);
}

/**
 * Limits the remaining amount of a redemption with duration `once` to {@link restOf}. Ends the redemption if it is used
 * up now. Makes it active again if it was used up before the change, unless the coupon was removed.
 */
function endedIfUsedUp(
  before: CouponRedemption,
  { redemption: changed, coupon }: RedeemedTerms,
  now: Date,
): CouponRedemption {
  const rest = restOf({ redemption: changed, coupon });
  const redemption = { ...changed, remainingAmount: rest === null ? null : nonNegative(rest) };
  if (isUsedUp({ redemption, coupon }))
    return { ...redemption, endedAt: before.endedAt ?? endOf(before, now) };
  const wasUsedUp = isUsedUp({ redemption: before, coupon });
  return wasUsedUp ? { ...redemption, endedAt: before.removedAt } : redemption;
}

/** Discounts that a percentage with duration `once` gave on invoices that are not void. */
export interface OnceDiscounts {
  /** Sum of the discounts in minor units, less the discounts that credits and usage corrections returned. */
  readonly appliedMinor: bigint;
  /**
   * True if the percentage counts as used. It does if it discounted the charges of an invoice, or if its first discount
   * was on a usage correction. Giving a returned discount again does not count.
   */
  readonly isUsed: boolean;
}

/** Discounts of an invoice by one redemption, in minor units. */
export interface InvoiceDiscount {
  readonly redemptionId: string;
  readonly amountMinor: bigint;
  /**
   * Discount that credits and usage corrections on this invoice returned, and that the coupon can give again; absent:
   * none.
   */
  readonly returnedMinor?: bigint;
  /**
   * Discount that credits and usage corrections on this invoice took back, but that the coupon cannot give again. Not
   * in `returnedMinor`; absent: none.
   */
  readonly unusableMinor?: bigint;
  /** Maximum of the discount of an invoice that could use only returned discounts. Null or absent: no maximum. */
  readonly limitMinor?: bigint | null;
  /** Part of `amountMinor` given on usage corrections, which bill late usage of earlier periods; absent: none. */
  readonly correctedMinor?: bigint;
  /** Part of `correctedMinor` that was taken from the `remainingAmount` of the redemption; absent: none. */
  readonly fromRemainingMinor?: bigint;
  /** For a percentage with duration `once`: its discounts on all other invoices that are not void; absent: none. */
  readonly others?: OnceDiscounts;
  /**
   * For a repeating coupon: end of the discounted months once this invoice is void. The months are then counted from
   * the first period that another invoice discounts; null if there is no such period. Absent: the end does not change.
   */
  readonly endsAt?: Date | null;
}

/**
 * Returns the redemption after an invoice was voided. The discounts that the invoice gave or returned no longer count.
 * The discount of a coupon with duration `once` becomes available again. The months of a repeating coupon are counted
 * from the first period that another invoice discounts.
 */
export function withoutInvoice(
  { redemption, coupon }: RedeemedTerms,
  { amountMinor, returnedMinor = 0n, limitMinor = null, ...corrections }: InvoiceDiscount,
  now: Date,
): CouponRedemption {
  const { remainingAmount, appliedAmount } = redemption;
  const { correctedMinor = 0n, fromRemainingMinor = 0n, endsAt = redemption.endsAt } = corrections;
  const { others = { appliedMinor: 0n, isUsed: false }, unusableMinor = 0n } = corrections;
  const applied = greater(appliedAmount - amountMinor + returnedMinor + unusableMinor, 0n);
  if (coupon.duration !== 'once') return { ...redemption, appliedAmount: applied, endsAt };
  const isPercentage = coupon.amountOff === null;
  const ownMinor = isPercentage && limitMinor === null ? 0n : amountMinor - correctedMinor;
  const rest = (remainingAmount ?? 0n) + ownMinor + fromRemainingMinor - returnedMinor;
  const used = {
    appliedAmount: isPercentage ? greater(others.appliedMinor, 0n) : applied,
    correctionsAmount: 0n,
    remainingAmount: isPercentage && remainingAmount === null && rest <= 0n ? null : rest,
  };
  // The percentage is unused again if no other invoice used it. Usage corrections of the void invoice do not count as a
  // use.
  const unused = {
    appliedAmount: 0n,
    correctionsAmount: greater(others.appliedMinor, 0n),
    remainingAmount: null,
  };
  const after = { ...redemption, ...(isPercentage && !others.isUsed ? unused : used) };
  return endedIfUsedUp(redemption, { redemption: after, coupon }, now);
}
