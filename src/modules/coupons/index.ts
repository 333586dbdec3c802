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
  countsFrom,
  isUsedUp,
  type RedeemedTerms,
  type RedemptionRequest,
} from './domain/redemption';
export { RedemptionsService } from './redemptions.service';
