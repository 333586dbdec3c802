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
    readonly invoice: { readonly status: string };
    period: number;
    readonly taken: bigint;
    readonly returned: bigint;
    /** True if a percentage was taken off without a limit. */
    readonly wasFirst: boolean;
  }[];
  /** True after its subscription ended. */
  isOver: boolean;
  isUsedUp: boolean;
}
