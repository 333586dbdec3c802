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
