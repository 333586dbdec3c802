import { purgeProvider } from '../test-clocks';

/**
 * Deletes the redemptions of the customers on a deleted test clock, and subtracts the number of deleted redemptions
 * from `times_redeemed` of their coupons.
 */
export const redemptionsPurge = purgeProvider('redemptions', [
  `
  WITH removed AS (DELETE FROM coupon_redemption WHERE customer_id = ANY ($1) RETURNING id, coupon_id),
    counted AS (
      UPDATE coupon SET times_redeemed = times_redeemed - used.times, version = version + 1
      FROM (SELECT coupon_id, count(*)::int AS times FROM removed GROUP BY coupon_id) used
      WHERE coupon.id = used.coupon_id)
  SELECT id FROM removed`,
]);
