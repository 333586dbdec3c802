export { discountAdded, percentageBases, type AddedCoupon, type AddedDiscount } from './added';
export { applyCoupons, type AppliedCoupon, type CouponOff, type RedeemedCoupon } from './coupons';
