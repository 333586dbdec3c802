import type { ModelCoupon } from './catalog';

/** A coupon that was given to a subscription. */
export interface Redemption {
  readonly coupon: number;
  readonly terms: ModelCoupon;
  readonly at: number;
  /** The end of its months; null until it took something off. */
  endsAt: number | null;
  /** Of one that lasts once; null: a percentage that took nothing off. */
  left: bigint | null;
  /** What invoices took off by it, and what their credits returned. */
  readonly uses: {
    readonly invoice: { readonly status: string };
    readonly period: number;
    readonly taken: bigint;
    readonly returned: bigint;
  }[];
  /** Ended with its subscription. */
  isOver: boolean;
  isUsedUp: boolean;
}
