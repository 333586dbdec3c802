import { discountAdded, percentageBases } from '../../../core/discount';
import type { BilledBy, BilledByCoupon } from './billed-by';
import { type CouponContext, leftOf, positive, redeemed } from './decide-coupons';
import { type FirstBill, subjectOf } from './first-bill';
import type { HeldDiscount } from './held-terms';
import { correctedDiscounts, restKey } from './corrected-discounts';
import type { InvoiceCoupon } from './invoice';
import type { LineDraft } from './line-draft';
import type { UsageOrder } from './line-order';

/** Bills that corrections of an invoice correct, and the coupons that these discount by or return to. */
export interface CorrectedBills {
  readonly firstBills: ReadonlyMap<UsageOrder, FirstBill>;
  /** By {@link restKey}. */
  readonly correctedCoupons: ReadonlyMap<string, CouponContext>;
}

/** The terms that the corrections of an invoice take, one after the other: each finds what the former left. */
export interface CorrectionTerms {
  /** Returns true if a discount returns to its coupon when its usage is taken back. */
  readonly returns: (discount: HeldDiscount) => boolean;
  /** Returns the terms of usage that is added; null if nothing is known of its first bill. */
  readonly added: (order: UsageOrder, addedMinor: bigint) => BilledBy | null;
  /** Returns the terms of usage that a void invoice added, with what the coupons have left by now. */
  readonly addedAgain: (billedBy: BilledBy, addedMinor: bigint) => BilledBy;
  /** Notes usage that is taken back, at list prices. */
  readonly takenBack: (order: UsageOrder, listedMinor: bigint) => void;
  /** Notes the discounts that returned with it. */
  readonly returned: (discounts: readonly HeldDiscount[]) => void;
}

/** @param bills left out where nothing is known of them: amounts before discount and tax do not depend on them */
export function correctionTerms({
  firstBills = new Map(),
  correctedCoupons = new Map(),
}: Partial<CorrectedBills>): CorrectionTerms {
  const rests = new Map(
    [...correctedCoupons].map(([key, coupon]) => [key, leftOf(coupon, 0n) ?? 0n]),
  );
  const amounts = new Map([...firstBills.values()].map(({ id, amounts: billed }) => [id, billed]));
  const change = (key: string, byMinor: bigint): void => {
    rests.set(key, (rests.get(key) ?? 0n) + byMinor);
  };
  const grow = (order: UsageOrder, byMinor: bigint): void => {
    const id = firstBills.get(order)?.id ?? '';
    const key = subjectOf(order);
    amounts.set(
      id,
      (amounts.get(id) ?? []).map((one) =>
        one.key === key ? { ...one, amountMinor: one.amountMinor + byMinor } : one,
      ),
    );
  };
  const couponOf = ({ redemptionId, billedFrom }: HeldDiscount): CouponContext | undefined =>
    couponIn(correctedCoupons, redemptionId, billedFrom);
  const addedAgain = (billedBy: BilledBy, addedMinor: bigint): BilledBy => {
    const { billedFrom } = billedBy;
    const coupons = billedBy.coupons.map((coupon) => ({
      ...coupon,
      restMinor: positive(rests.get(restKey(coupon, billedFrom)) ?? 0n),
    }));
    discountAdded(addedMinor, coupons).forEach(({ ofRestMinor }, index) => {
      const coupon = coupons[index];
      if (coupon !== undefined) change(restKey(coupon, billedFrom), -ofRestMinor);
    });
    return { ...billedBy, coupons };
  };
  return {
    returns: (discount) => {
      const coupon = couponOf(discount);
      return coupon?.duration === 'once' || (coupon?.amountOffMinor ?? null) !== null;
    },
    added: (order, addedMinor) => {
      const bill = firstBills.get(order);
      if (bill === undefined) return null;
      const { billedFrom, taxTreatment, taxes } = bill;
      const coupons = couponsFor(
        order,
        { ...bill, amounts: amounts.get(bill.id) ?? [] },
        addedMinor,
      );
      grow(order, addedMinor);
      return addedAgain({ billedFrom, taxTreatment, taxes, coupons }, addedMinor);
    },
    addedAgain,
    takenBack: (order, listedMinor) => {
      grow(order, -listedMinor);
    },
    returned: (discounts) => {
      for (const discount of discounts) {
        const coupon = couponOf(discount);
        if (coupon !== undefined) {
          change(restKey(coupon, discount.billedFrom), discount.amountMinor);
        }
      }
    },
  };
}

/** The coupons of a bill that are for a price, before what they have left is known. */
function couponsFor(
  { price, ...order }: UsageOrder,
  bill: FirstBill,
  addedMinor: bigint,
): readonly BilledByCoupon[] {
  const bases = basesOf(bill);
  const key = subjectOf(order);
  const billedMinor = bill.amounts.find((one) => one.key === key)?.amountMinor ?? 0n;
  return bill.coupons
    .filter(({ priceIds }) => priceIds === null || priceIds.has(price.priceId))
    .toSorted(inOrder)
    .map(({ redemptionId, redeemedAt, duration, percentOff, isLimited }) => {
      const againMinor = isLimited ? addedMinor : positive(bill.peakMinor - billedMinor);
      return {
        redemptionId,
        redeemedAt,
        duration,
        percentOff,
        baseMinor: bases.get(redemptionId) ?? 0n,
        againMinor: duration === 'once' ? againMinor : 0n,
        restMinor: 0n,
      };
    });
}

/** Returns a coupon as it discounts corrections of bills of a period. */
export function couponIn(
  coupons: CorrectedBills['correctedCoupons'],
  redemptionId: string,
  billedFrom: Date | null,
): CouponContext | undefined {
  return (
    coupons.get(restKey({ redemptionId, duration: 'once' }, billedFrom)) ??
    coupons.get(restKey({ redemptionId, duration: 'forever' }, billedFrom))
  );
}

/** Returns the amounts that the percentages of a bill are for by now. */
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

/** Percentages come first, then amounts, each by the time of redemption. */
function inOrder(one: CouponContext, other: CouponContext): number {
  const rank = ({ percentOff }: CouponContext): number => (percentOff === null ? 1 : 0);
  return rank(one) - rank(other) || one.redeemedAt.getTime() - other.redeemedAt.getTime();
}

/**
 * Returns the coupons that corrections discount by or return to, as an invoice keeps them beside those of its own period.
 * @param coupons by {@link restKey}
 */
export function correctedCouponsOf(
  lines: readonly Pick<LineDraft, 'amount' | 'trace'>[],
  coupons: ReadonlyMap<string, CouponContext>,
): readonly InvoiceCoupon[] {
  const found = new Map<string, InvoiceCoupon>();
  for (const discount of correctedDiscounts(lines)) {
    const { redemptionId, billedFrom: correctedFrom, takenMinor, ofRestMinor } = discount;
    const coupon = couponIn(coupons, redemptionId, correctedFrom);
    if (coupon === undefined) continue;
    const { redeemedAt, duration, percentOff } = coupon;
    const key = `${redemptionId} ${correctedFrom?.getTime() ?? ''}`;
    const before = found.get(key);
    const restMinor = leftOf(coupon, 0n) ?? 0n;
    found.set(key, {
      redemptionId,
      redeemedAt,
      duration,
      percentOff,
      amountOffMinor: percentOff === null ? restMinor : null,
      amountMinor: (before?.amountMinor ?? 0n) + takenMinor,
      returnedMinor: (before?.returnedMinor ?? 0n) + discount.returnedMinor,
      ofRestMinor: (before?.ofRestMinor ?? 0n) + ofRestMinor,
      restMinor,
      correctedFrom,
    });
  }
  return [...found.values()];
}
