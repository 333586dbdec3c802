import type { Metadata } from '../../../core/metadata';

export const COUPON_DURATIONS = ['once', 'repeating', 'forever'] as const;
export type CouponDuration = (typeof COUPON_DURATIONS)[number];

export const COUPON_TYPES = ['percent', 'amount'] as const;
export type CouponType = (typeof COUPON_TYPES)[number];

/** A discount that customers can be given. */
export interface Coupon {
  readonly id: string;
  readonly version: number;
  readonly code: string;
  readonly name: string | null;
  readonly type: CouponType;
  /** Decimal string, above 0 to 100; only for `percent`. */
  readonly percentOff: string | null;
  /** Minor units of `currency`; only for `amount`. */
  readonly amountOff: bigint | null;
  readonly currency: string | null;
  readonly duration: CouponDuration;
  /** Only for `repeating`. */
  readonly durationInMonths: number | null;
  readonly maxRedemptions: number | null;
  readonly timesRedeemed: number;
  /** Last instant at which it can be redeemed. */
  readonly redeemBy: Date | null;
  /** Plans it is limited to; empty for all. */
  readonly planIds: readonly string[];
  /** An inactive coupon takes no new redemption; running discounts go on. */
  readonly isActive: boolean;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new coupon is made of. */
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

/** A field that the terms of a coupon contradict, and why. Fields are named as on the wire. */
export interface TermsFault {
  readonly pointer: string;
  readonly message: string;
}

/** The places where terms contradict each other: a percentage with an amount, a repeating discount without a length. */
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

/** What an update may change; what is left out stays. */
export interface CouponChange {
  readonly isActive?: boolean | undefined;
  readonly metadata?: Metadata | undefined;
}
