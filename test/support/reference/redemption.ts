import type { ModelCoupon } from './catalog';

/** A coupon redeemed on a subscription. */
export interface Redemption {
  readonly coupon: number;
  readonly terms: ModelCoupon;
  readonly at: number;
  /** End of the months in which the coupon discounts; null before the first discount. */
  endsAt: number | null;
  /**
   * Amount that a coupon with duration `once` can still take off; null for an unused percentage. Negative if invoices
   * took off more than an amount, because an invoice is void whose returned discount they used again.
   */
  left: bigint | null;
  /** Discounts that invoices took from the coupon, and discounts that credits returned to it. */
  readonly uses: {
    invoice: { readonly status: string };
    /** True for a usage correction whose invoice is not made yet. */
    isOpen: boolean;
    period: number;
    /** Start of the discounted billing period, as it was when the invoice was made. */
    readonly from: number;
    readonly isCorrection: boolean;
    readonly taken: bigint;
    readonly returned: bigint;
    /** Returned discounts that cannot be used again. They are not a part of `returned`. */
    readonly unusable: bigint;
    /** Part of `taken` that came out of `left`. */
    readonly ofRest: bigint;
    /**
     * True if a percentage discounted its full share, and not only discounts that returned to it. With duration `once`,
     * such a use is the first one; it can be a correction of a bill that had not used the coupon.
     */
    readonly wasFirst: boolean;
    /** True if a usage correction used the coupon although the corrected bill had not. */
    readonly begins: boolean;
  }[];
  /** True after the subscription has ended or the coupon was removed. */
  isOver: boolean;
  isRemoved: boolean;
  isUsedUp: boolean;
}

/**
 * Returns true if a coupon can discount usage that is added to a bill, although the bill itself has not used the
 * coupon.
 */
export function mayBegin(
  redemption: Redemption,
  period: number,
  monthsFrom: (from: number, months: number) => number,
): boolean {
  const { terms, left, endsAt } = redemption;
  if (terms.duration === 'forever' || (terms.amountOff !== undefined && terms.duration === 'once'))
    return true;
  if (terms.duration === 'once') return left === null || isBegun(redemption, period);
  if (terms.months === undefined || (endsAt !== null && period >= endsAt)) return false;
  const ownEnd = monthsFrom(period, terms.months);
  return discountedPeriods(redemption).every((start) => start < ownEnd);
}

/** Returns true if a usage correction of the period was the first use of a percentage with duration `once`. */
export function isBegun({ uses }: Redemption, period: number): boolean {
  return uses.some((use) => use.period === period && isFirstOfCorrection(use));
}

/** Returns true for a correction in effect that was the first use of a percentage. */
export function isFirstOfCorrection(use: Redemption['uses'][number]): boolean {
  return use.isCorrection && use.wasFirst && use.invoice.status !== 'void';
}

/** Returns the starts of the billing periods that invoices in effect discount. Leaves out the invoice `except`. */
export function discountedPeriods(
  { uses }: Redemption,
  except: Redemption['uses'][number]['invoice'] | null = null,
): readonly number[] {
  return uses
    .filter(({ invoice, taken }) => invoice !== except && invoice.status !== 'void' && taken > 0n)
    .map(({ from }) => from);
}

/**
 * Returns true if a coupon may discount a period. A percentage with duration `once` is used in one period, and its
 * returned discounts can be used again only there.
 */
export function mayDiscount(
  { terms, left, uses }: Redemption,
  period: number,
  except: Redemption['uses'][number]['invoice'] | null = null,
): boolean {
  if (terms.duration !== 'once' || terms.percentOff === undefined || left === null) return true;
  return uses.some(
    (use) =>
      use.period === period &&
      use.taken > 0n &&
      use.invoice !== except &&
      use.invoice.status !== 'void',
  );
}

/**
 * Returns true if a discount of the period `taken`, which was returned, can be used again on an invoice of `period`.
 * With duration `once`, the periods may differ; otherwise they must be the same. Nothing of a removed coupon can be
 * used again, nor of a coupon that was not used up when its subscription ended.
 */
export function canBeUsedAgain(redemption: Redemption, taken: number, period: number): boolean {
  const { isRemoved, isOver, isUsedUp, terms } = redemption;
  if (isRemoved || (isOver && !isUsedUp) || !mayDiscount(redemption, period)) return false;
  return terms.duration === 'once' || taken === period;
}
