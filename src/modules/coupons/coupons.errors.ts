import { defineContradiction, defineNotFound, defineProblem } from '../../platform/errors';

export const couponNotFound = defineNotFound('coupon_not_found', 'a coupon');

export const couponRedemptionNotFound = defineNotFound(
  'coupon_redemption_not_found',
  'a redemption',
  'it belongs to another subscription',
);

export const couponCodeTaken = defineProblem({
  code: 'coupon_code_taken',
  kind: 'conflict',
  title: 'The code belongs to another coupon',
  meaning:
    'Codes are unique, inactive coupons included. Choose another code, or omit it to have one generated.',
  detail: (code: string) =>
    `A coupon with the code ${JSON.stringify(code)} already exists. Choose another code.`,
});

export const couponTermsContradict = defineContradiction({
  code: 'coupon_terms_contradict',
  title: 'The terms of the coupon contradict each other',
  meaning:
    'A coupon has either `percent_off`, or `amount_off` with `currency`. `duration_in_months` is only for the duration `repeating`. `redeem_by` must be in the future.',
});

export const couponInUse = defineProblem({
  code: 'coupon_in_use',
  kind: 'conflict',
  title: 'The coupon was redeemed',
  meaning: 'A coupon that was redeemed cannot be deleted. Deactivate it with `is_active: false`.',
  detail: (id: string) =>
    `The coupon ${id} was redeemed and cannot be deleted. Deactivate it with is_active: false.`,
});

export const couponCodeUnknown = defineProblem({
  code: 'coupon_code_unknown',
  kind: 'rule_broken',
  title: 'No coupon has this code',
  meaning: 'The code in the request is not the code of a coupon. Codes are case-sensitive.',
  detail: (code: string) => `There is no coupon with the code ${JSON.stringify(code)}.`,
});

export const couponInactive = defineProblem({
  code: 'coupon_inactive',
  kind: 'rule_broken',
  title: 'The coupon is inactive',
  meaning: 'An inactive coupon (`is_active: false`) cannot be redeemed.',
  detail: (code: string) =>
    `The coupon ${JSON.stringify(code)} is inactive and cannot be redeemed.`,
});

export const couponExpired = defineProblem({
  code: 'coupon_expired',
  kind: 'rule_broken',
  title: 'The coupon has expired',
  meaning: 'The coupon cannot be redeemed after `redeem_by`.',
  detail: (code: string) => `The coupon ${JSON.stringify(code)} has expired.`,
});

export const couponExhausted = defineProblem({
  code: 'coupon_exhausted',
  kind: 'rule_broken',
  title: 'The coupon has no redemptions left',
  meaning: '`times_redeemed` has reached `max_redemptions`.',
  detail: (code: string) =>
    `The coupon ${JSON.stringify(code)} has reached its maximum number of redemptions.`,
});

export const couponNotForPlan = defineProblem({
  code: 'coupon_not_for_plan',
  kind: 'rule_broken',
  title: 'The coupon is for other plans',
  meaning:
    'The coupon is limited to `plan_ids`, and the plan of the subscription is not one of them.',
  detail: (code: string) => `The coupon ${JSON.stringify(code)} is for other plans.`,
});

export const couponCurrencyMismatch = defineProblem({
  code: 'coupon_currency_mismatch',
  kind: 'rule_broken',
  title: 'The coupon is in another currency',
  meaning: 'A coupon with `amount_off` is only for subscriptions in its currency.',
  detail: (code: string, currency: string) =>
    `The coupon ${JSON.stringify(code)} is not for subscriptions in ${currency}.`,
});

export const couponAlreadyRedeemed = defineProblem({
  code: 'coupon_already_redeemed',
  kind: 'conflict',
  title: 'The subscription has already redeemed the coupon',
  meaning: 'A coupon can be redeemed once per subscription, even after that redemption has ended.',
  detail: (code: string) =>
    `The coupon ${JSON.stringify(code)} was redeemed on this subscription before.`,
});
