import type { ModelCoupon } from './catalog';

/** A coupon redeemed on a subscription. */
export interface Redemption {
  readonly coupon: number;
  readonly terms: ModelCoupon;
  readonly at: number;
  /** End of the discounted months; null before the first discount. */
  endsAt: number | null;
  /** Amount that a coupon with duration `once` can still take off; null for an unused percentage. */
  left: bigint | null;
  /** Discounts on invoices, and discounts that credits returned. */
  readonly uses: {
    invoice: { readonly status: string };
    /** True for a correction whose invoice is not made yet. */
    isOpen: boolean;
    period: number;
    /** Start of the discounted billing period, as it was when the invoice was made. */
    readonly from: number;
    readonly isCorrection: boolean;
    readonly taken: bigint;
    readonly returned: bigint;
    /** Discounts that returned as well, but that nothing can be taken off with again. */
    readonly unusable: bigint;
    /** Part of `taken` that came out of `left`. */
    readonly ofRest: bigint;
    /** True if this use was the first full use of a percentage. A correction is one if its bill had not used the coupon. */
    readonly wasFirst: boolean;
    /** True if a correction used the coupon although its bill had not. */
    readonly begins: boolean;
  }[];
  /** True after the subscription has ended or the coupon was removed. */
  isOver: boolean;
  isRemoved: boolean;
  isUsedUp: boolean;
}

/** Returns true if a coupon that a bill has not used discounts usage that is added to the bill. */
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

/** Returns true if a correction of the bill of a period used a percentage with duration `once` that the bill had not used. */
export function isBegun({ uses }: Redemption, period: number): boolean {
  return uses.some((use) => use.period === period && isFirstOfCorrection(use));
}

/** Returns true if a correction in effect used a percentage that its bill had not used. */
export function isFirstOfCorrection(use: Redemption['uses'][number]): boolean {
  return use.isCorrection && use.wasFirst && use.invoice.status !== 'void';
}

/** Returns the starts of the billing periods that invoices in effect discount, except one. */
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
 * Returns true if a returned discount can be used again on an invoice of a period. A discount of a one-time coupon can,
 * any other one only within its period. Nothing can be used again of a removed coupon, or of a coupon that was not used
 * up when its subscription ended.
 */
export function canBeUsedAgain(redemption: Redemption, taken: number, period: number): boolean {
  const { isRemoved, isOver, isUsedUp, terms } = redemption;
  if (isRemoved || (isOver && !isUsedUp) || !mayDiscount(redemption, period)) return false;
  return terms.duration === 'once' || taken === period;
}
