import type { Metadata } from '../../../core/metadata';
import type { ChangeOf } from '../../../core/next-version';
import type { TermsFault } from '../../../core/terms-fault';

export const COUPON_DURATIONS = ['once', 'repeating', 'forever'] as const;
export type CouponDuration = (typeof COUPON_DURATIONS)[number];

export const COUPON_TYPES = ['percent', 'amount'] as const;
export type CouponType = (typeof COUPON_TYPES)[number];

export interface Coupon {
  readonly id: string;
  readonly version: number;
  readonly code: string;
  readonly name: string | null;
  readonly type: CouponType;
  /** Percent as a decimal string, above 0 and at most 100; only for coupons of type `percent`. */
  readonly percentOff: string | null;
  /** Minor units of `currency`; only for coupons of type `amount`. */
  readonly amountOff: bigint | null;
  readonly currency: string | null;
  readonly duration: CouponDuration;
  /** Only for the duration `repeating`. */
  readonly durationInMonths: number | null;
  readonly maxRedemptions: number | null;
  readonly timesRedeemed: number;
  /** Last instant at which the coupon can be redeemed; null: no limit. */
  readonly redeemBy: Date | null;
  /** Ids of the plans whose prices are discounted; empty for all prices. */
  readonly planIds: readonly string[];
  /** An inactive coupon cannot be redeemed; running discounts continue. */
  readonly isActive: boolean;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type CouponTerms = Pick<
  Coupon,
  | 'name'
  | 'type'
  | 'percentOff'
  | 'amountOff'
  | 'currency'
  | 'duration'
  | 'durationInMonths'
  | 'maxRedemptions'
  | 'redeemBy'
  | 'planIds'
  | 'metadata'
> & { readonly code: string | null };

export function faultsOfTerms(terms: CouponTerms, now: Date): readonly TermsFault[] {
  const isPercent = terms.type === 'percent';
  const rules: readonly (readonly [broken: boolean, pointer: string, message: string])[] = [
    [isPercent && terms.percentOff === null, '/percent_off', 'is required for type percent'],
    [!isPercent && terms.percentOff !== null, '/percent_off', 'is only for type percent'],
    [!isPercent && terms.amountOff === null, '/amount_off', 'is required for type amount'],
    [isPercent && terms.amountOff !== null, '/amount_off', 'is only for type amount'],
    [!isPercent && terms.currency === null, '/currency', 'is required for type amount'],
    [isPercent && terms.currency !== null, '/currency', 'is only for type amount'],
    [
      terms.duration === 'repeating' && terms.durationInMonths === null,
      '/duration_in_months',
      'is required for duration repeating',
    ],
    [
      terms.duration !== 'repeating' && terms.durationInMonths !== null,
      '/duration_in_months',
      'is only for duration repeating',
    ],
    [terms.redeemBy !== null && terms.redeemBy <= now, '/redeem_by', 'must be in the future'],
  ];
  return rules.filter(([broken]) => broken).map(([, pointer, message]) => ({ pointer, message }));
}

export type CouponChange = ChangeOf<Coupon, 'isActive' | 'metadata'>;
