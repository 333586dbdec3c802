import {
  couponAlreadyRedeemed,
  couponCodeUnknown,
  couponCurrencyMismatch,
  couponExhausted,
  couponExpired,
  couponInactive,
  couponNotForPlan,
} from '../../coupons';
import {
  subscriptionBehind,
  subscriptionCustomerDeleted,
  subscriptionNotFound,
} from '../../subscriptions';
import { TEST_CLOCK_PROBLEMS } from '../../test-clocks';

/** Errors of a request that redeems a coupon. */
export const REDEMPTION_PROBLEMS = [
  couponCodeUnknown,
  couponInactive,
  couponExpired,
  couponExhausted,
  couponNotForPlan,
  couponCurrencyMismatch,
  couponAlreadyRedeemed,
];

/** Errors of every request that changes an existing subscription. */
export const CHANGE_PROBLEMS = [
  subscriptionNotFound,
  subscriptionCustomerDeleted,
  subscriptionBehind,
  ...TEST_CLOCK_PROBLEMS,
];
