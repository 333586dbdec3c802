export { applyCoupons, type AppliedCoupon, type CouponOff, type RedeemedCoupon } from './coupons';
