import type { ModelCoupon } from './catalog';

/** A coupon redeemed on a subscription. */
export interface Redemption {
  readonly coupon: number;
  readonly terms: ModelCoupon;
  readonly at: number;
  /** End of its months; null until the first discount. */
  endsAt: number | null;
  /** Rest of a coupon with duration once; null for a percentage that was not used. */
  left: bigint | null;
  /** Discounts of invoices, and what credits returned of them. */
  readonly uses: {
    invoice: { readonly status: string };
    /** True for a correction whose invoice is not made yet. */
    isOpen: boolean;
    period: number;
    /** Start of the billing period of its invoice when it was made; null for a correction of an earlier bill. */
    readonly from: number | null;
    readonly taken: bigint;
    readonly returned: bigint;
    /** Part of the discount that the rest of the coupon gave. */
    readonly ofRest: bigint;
    /** True if a percentage was taken off without a limit. */
    readonly wasFirst: boolean;
  }[];
  /** True after its subscription ended. */
  isOver: boolean;
  isUsedUp: boolean;
}

/** A percentage that lasts once is used in one period: what returned of it can be used again there, and nowhere else. */
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
