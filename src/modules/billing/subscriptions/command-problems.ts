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

export const REDEMPTION_PROBLEMS = [
  couponCodeUnknown,
  couponInactive,
  couponExpired,
  couponExhausted,
  couponNotForPlan,
  couponCurrencyMismatch,
  couponAlreadyRedeemed,
];

export const CHANGE_PROBLEMS = [
  subscriptionNotFound,
  subscriptionCustomerDeleted,
  subscriptionBehind,
  ...TEST_CLOCK_PROBLEMS,
];
