import type { RedeemedCoupon } from '../../../core/discount';
import { addedDiscounts } from './billed-by';
import type { LineDraft } from './line-draft';

/** A discount that a usage correction took or returned, in the period of the corrected bill, in minor units. */
export interface CorrectedDiscount {
  readonly redemptionId: string;
  /** Start of the invoice period of the corrected bill. */
  readonly billedFrom: Date | null;
  readonly takenMinor: bigint;
  /** Part of `takenMinor` that was taken from the amount the coupon had left. */
  readonly ofRestMinor: bigint;
  readonly returnedMinor: bigint;
  /** True if the correction was the first to use the coupon: the corrected bill had not used it. */
  readonly begins: boolean;
}

/**
 * Returns the key of the amount that a coupon has left for corrections of one period. A coupon that lasts `once` has one key
 * for all periods.
 */
export function restKey(
  { redemptionId, duration }: Pick<RedeemedCoupon, 'redemptionId' | 'duration'>,
  billedFrom: Date | null,
): string {
  return duration === 'once' ? redemptionId : `${redemptionId} ${billedFrom?.getTime() ?? ''}`;
}

/** Returns the discounts that corrections of usage took or returned. */
export function correctedDiscounts(
  lines: readonly Pick<LineDraft, 'amount' | 'trace'>[],
): readonly CorrectedDiscount[] {
  return lines.flatMap(({ amount, trace }) => {
    const corrects = trace.kind === 'usage' ? trace.corrects : null;
    if (corrects === null) return [];
    const { billedBy, returned = [] } = corrects;
    const added = billedBy === undefined ? [] : addedDiscounts(amount, billedBy);
    return [
      ...added.map(({ redemptionId, amountMinor: takenMinor, ofRestMinor }) => {
        const billedFrom = billedBy?.billedFrom ?? null;
        const used = billedBy?.coupons.find((one) => one.redemptionId === redemptionId);
        const begins = used?.begins === true;
        return { redemptionId, billedFrom, takenMinor, ofRestMinor, returnedMinor: 0n, begins };
      }),
      ...returned.map(({ redemptionId, billedFrom, amountMinor: returnedMinor }) => {
        const none = { takenMinor: 0n, ofRestMinor: 0n, begins: false };
        return { redemptionId, billedFrom, returnedMinor, ...none };
      }),
    ];
  });
}
