import type { RedeemedCoupon } from '../../../core/discount';
import { addedDiscounts } from './billed-by';
import type { LineDraft } from './line-draft';

/**
 * A discount that a usage correction took from a coupon or returned to it, in minor units. (A usage correction bills
 * the difference when usage changed after its period was billed.)
 */
export interface CorrectedDiscount {
  readonly redemptionId: string;
  readonly billedFrom: Date | null;
  readonly takenMinor: bigint;
  /** Part of `takenMinor` that lowered the remaining amount of the coupon. */
  readonly fromRemainingMinor: bigint;
  readonly returnedMinor: bigint;
  /**
   * True only if the correction was the first use of the coupon, and the coupon is `repeating` or a percentage with
   * duration `once`.
   */
  readonly isFirstUse: boolean;
}

/**
 * Returns the key under which the remaining amount of a coupon is kept. A coupon with duration `once` has one key.
 * Other coupons have one key for each corrected period.
 */
export function remainingKey(
  { redemptionId, duration }: Pick<RedeemedCoupon, 'redemptionId' | 'duration'>,
  billedFrom: Date | null,
): string {
  return duration === 'once' ? redemptionId : `${redemptionId} ${billedFrom?.getTime() ?? ''}`;
}

export function correctedDiscounts(
  lines: readonly Pick<LineDraft, 'amount' | 'trace'>[],
): readonly CorrectedDiscount[] {
  return lines.flatMap(({ amount, trace }) => {
    const corrects = trace.kind === 'usage' ? trace.corrects : null;
    if (corrects === null) return [];
    const { billedBy, returned = [] } = corrects;
    const added = billedBy === undefined ? [] : addedDiscounts(amount, billedBy);
    return [
      ...added.map(({ redemptionId, amountMinor: takenMinor, fromRemainingMinor }) => {
        const billedFrom = billedBy?.billedFrom ?? null;
        const used = billedBy?.coupons.find((one) => one.redemptionId === redemptionId);
        const isFirstUse = used?.begins === true;
        return {
          redemptionId,
          billedFrom,
          takenMinor,
          fromRemainingMinor,
          returnedMinor: 0n,
          isFirstUse,
        };
      }),
      ...returned.map(({ redemptionId, billedFrom, amountMinor: returnedMinor }) => {
        const none = { takenMinor: 0n, fromRemainingMinor: 0n, isFirstUse: false };
        return { redemptionId, billedFrom, returnedMinor, ...none };
      }),
    ];
  });
}
