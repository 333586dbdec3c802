export {
  couponAlreadyRedeemed,
  couponCodeUnknown,
  couponCurrencyMismatch,
  couponExhausted,
  couponExpired,
  couponInactive,
  couponNotForPlan,
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
} from './domain/redemption';
export { RedemptionsService } from './redemptions.service';
