export {
  applyCoupons,
  type AppliedCoupon,
  type CouponOff,
  type DiscountableLine,
  type Discounts,
  type RedeemedCoupon,
} from './coupons';
