export {
  couponAlreadyRedeemed,
  couponCodeUnknown,
  couponCurrencyMismatch,
  couponExhausted,
  couponExpired,
  couponInactive,
  couponNotForPlan,
  couponRedemptionNotFound,
} from './coupons.errors';
export { CouponsModule } from './coupons.module';
export {
  type AppliedRedemption,
  discountsPeriodFrom,
  isUsedPercentage,
  isUsedUp,
  type InvoiceDiscount,
  type RedeemedTerms,
  type RedemptionRequest,
  type OnceDiscounts,
  restOf,
} from './domain/redemption';
export { CouponRedemptionDto, toCouponRedemptionDto } from './dto/coupon-redemption.dto';
export { RedemptionsService } from './redemptions.service';
