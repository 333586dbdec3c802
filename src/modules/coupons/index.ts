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
  countsFrom,
  isUsedPercentage,
  isUsedUp,
  type NotedDiscount,
  type RedeemedTerms,
  type RedemptionRequest,
  type StandingDiscounts,
} from './domain/redemption';
export { RedemptionsService } from './redemptions.service';
