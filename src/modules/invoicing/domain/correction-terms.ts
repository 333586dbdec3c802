import { percentageBases } from '../../../core/discount';
import { nonNegative } from '../../../core/money';
import type { BilledBy, BilledByCoupon } from './billed-by';
import {
  type CorrectedCoupon,
  couponKey,
  appliesToCorrection,
  isPercentOnce,
  isUnused,
  mayApplyFirstToCorrection,
} from './corrected-coupon';
import { type CouponContext, remainingDiscountOf, redeemed } from './decide-coupons';
import { type FirstBill, usagePeriodKey } from './first-bill';
import type { HeldDiscount } from './held-terms';
import { correctedDiscounts } from './corrected-discounts';
import { CouponsLeft } from './coupons-left';
import type { InvoiceCoupon } from './invoice';
import type { LineDraft } from './line-draft';
import type { UsageLineRequest } from './line-item-request';

/** Earlier bills that an invoice corrects, because their usage changed. Also the coupons of these bills. */
export interface CorrectedBills {
  readonly firstBills: ReadonlyMap<UsageLineRequest, FirstBill>;
  /** By coupon redemption and corrected period; see {@link couponKey}. */
  readonly correctedCoupons: ReadonlyMap<string, CorrectedCoupon>;
}

/**
 * Works out the discounts and taxes of the usage corrections of one invoice. Process the corrections one at a time,
 * because each changes the remaining amounts of the coupons.
 */
export interface CorrectionTerms {
  /**
   * Returns the discounts and taxes for usage that is added to a period after its first bill: the same as on that bill.
   * Subtracts the discounts from the remaining amounts of the coupons. Returns null if the first bill is unknown.
   */
  readonly added: (request: UsageLineRequest, addedMinor: bigint) => BilledBy | null;
  /** Records that a correction takes back usage of this amount at list prices. */
  readonly takenBack: (request: UsageLineRequest, listedMinor: bigint) => void;
  /** Records that a correction returned these discounts, by adding them to the remaining amounts of their coupons. */
  readonly returned: (discounts: readonly HeldDiscount[]) => void;
}

/**
 * Returns an object that works out the discounts and taxes for corrections of these bills. A caller that needs only the
 * amounts before discounts and taxes can omit the bills.
 */
export function correctionTerms({
  firstBills = new Map(),
  correctedCoupons = new Map(),
}: Partial<CorrectedBills>): CorrectionTerms {
  const left = new CouponsLeft(correctedCoupons);
  const amounts = new Map([...firstBills.values()].map(({ id, amounts: billed }) => [id, billed]));
  const addToBilled = (request: UsageLineRequest, byMinor: bigint): void => {
    const id = firstBills.get(request)?.id ?? '';
    const key = usagePeriodKey(request);
    amounts.set(
      id,
      (amounts.get(id) ?? []).map((one) =>
        one.key === key ? { ...one, amountMinor: one.amountMinor + byMinor } : one,
      ),
    );
  };
  return {
    added: (request, addedMinor) => {
      const bill = firstBills.get(request);
      if (bill === undefined) return null;
      const { billedFrom, taxTreatment, taxes } = bill;
      const inForce = bill.coupons
        .map((coupon) => ({ ...coupon, ...left.find(coupon.redemptionId, billedFrom) }))
        .filter(appliesToCorrection);
      const terms = { ...bill, coupons: inForce, amounts: amounts.get(bill.id) ?? [] };
      const coupons = couponsFor(request, terms, addedMinor);
      addToBilled(request, addedMinor);
      return left.takeDiscounts({ billedFrom, taxTreatment, taxes, coupons }, addedMinor);
    },
    takenBack: (request, listedMinor) => {
      addToBilled(request, -listedMinor);
    },
    returned: (discounts) => {
      for (const discount of discounts) left.returnDiscount(discount);
    },
  };
}

/**
 * Returns the coupons of a bill that apply to the price of added usage, with the amounts needed to calculate the
 * discounts. The remaining amount of each coupon (`restMinor`) is 0 here; {@link CouponsLeft} sets it.
 */
function couponsFor(
  { price, ...request }: UsageLineRequest,
  bill: FirstBill,
  addedMinor: bigint,
): readonly BilledByCoupon[] {
  const bases = basesOf(bill);
  const key = usagePeriodKey(request);
  const billedMinor = bill.amounts.find((one) => one.key === key)?.amountMinor ?? 0n;
  return bill.coupons
    .filter(({ priceIds }) => priceIds === null || priceIds.has(price.priceId))
    .toSorted(inOrder)
    .map((coupon) => {
      const { redemptionId, redeemedAt, duration, percentOff, isUsed } = coupon;
      const isBeginning = !isUsed && mayApplyFirstToCorrection(coupon);
      const isLimited = isUsed ? coupon.isLimited : !isBeginning;
      const beforeMinor =
        isBeginning && isUnused(coupon) ? 0n : bill.highestBilledMinor - billedMinor;
      const againMinor = isLimited ? addedMinor : nonNegative(beforeMinor);
      const storesFirstUse = isBeginning && (duration === 'repeating' || isPercentOnce(coupon));
      return {
        redemptionId,
        redeemedAt,
        duration,
        percentOff,
        baseMinor: bases.get(redemptionId) ?? 0n,
        againMinor: duration === 'once' ? againMinor : 0n,
        restMinor: 0n,
        ...(storesFirstUse && { begins: true as const }),
      };
    });
}

/**
 * Returns the amount to which each percentage coupon of a bill applies, by redemption id. Corrections so far are
 * included.
 */
function basesOf({ coupons, amounts }: FirstBill): ReadonlyMap<string, bigint> {
  const lines = amounts.map(({ key, ...amount }) => ({ ...amount, lineId: key }));
  const percentages = coupons.filter(({ percentOff }) => percentOff !== null);
  return percentageBases(
    lines,
    percentages.map((coupon) => {
      const priceIds = coupon.priceIds === null ? null : [...coupon.priceIds];
      return redeemed({ ...coupon, amountOffMinor: null, mostMinor: null, priceIds }, lines);
    }),
  );
}

function inOrder(one: CouponContext, other: CouponContext): number {
  const rank = ({ percentOff }: CouponContext): number => (percentOff === null ? 1 : 0);
  return rank(one) - rank(other) || one.redeemedAt.getTime() - other.redeemedAt.getTime();
}

/**
 * Returns the coupon entries that an invoice stores for its usage corrections: the discounts that these corrections
 * took from coupons of the corrected bills, and the discounts that they returned. The other charges of the invoice have
 * coupon entries of their own.
 * @param coupons by {@link couponKey}
 */
export function correctedCouponsOf(
  lines: readonly Pick<LineDraft, 'amount' | 'trace'>[],
  coupons: CorrectedBills['correctedCoupons'],
): readonly InvoiceCoupon[] {
  const found = new Map<string, InvoiceCoupon>();
  for (const discount of correctedDiscounts(lines)) {
    const { redemptionId, billedFrom: correctedFrom, takenMinor, fromRemainingMinor } = discount;
    const key = couponKey(redemptionId, correctedFrom);
    const coupon = coupons.get(key);
    if (coupon === undefined) continue;
    const { redeemedAt, duration, percentOff, periodStartAt, ownEndsAt } = coupon;
    const before = found.get(key);
    const isUsedFirst = isPercentOnce(coupon) && discount.isFirstUse && takenMinor > 0n;
    const restMinor = remainingDiscountOf(coupon, 0n) ?? 0n;
    found.set(key, {
      redemptionId,
      redeemedAt,
      duration,
      percentOff,
      amountOffMinor: percentOff === null ? restMinor : null,
      amountMinor: (before?.amountMinor ?? 0n) + takenMinor,
      returnedMinor: (before?.returnedMinor ?? 0n) + discount.returnedMinor,
      ofRestMinor: (before?.ofRestMinor ?? 0n) + fromRemainingMinor,
      restMinor,
      correctedFrom,
      ...(duration === 'repeating' && { appliedFrom: periodStartAt, endsAt: ownEndsAt }),
      ...((isUsedFirst || before?.begins === true) && { begins: true }),
    });
  }
  return [...found.values()];
}
