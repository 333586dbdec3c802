import { defineEvents } from '../../platform/outbox';
import { CouponRedemptionDto, toCouponRedemptionDto } from './dto/coupon-redemption.dto';
import { CouponDto, toCouponDto } from './dto/coupon.dto';

const couponEvent = defineEvents(CouponDto, toCouponDto);
const couponRedemptionEvent = defineEvents(CouponRedemptionDto, toCouponRedemptionDto);

export const couponCreated = couponEvent('coupon.created', 'A coupon was created.');

export const couponUpdated = couponEvent(
  'coupon.updated',
  'A coupon was activated or deactivated, or its metadata changed.',
);

export const couponDeleted = couponEvent(
  'coupon.deleted',
  'A coupon without redemptions was deleted. The event contains its last state. Its code is free again.',
);

export const couponRedeemed = couponRedemptionEvent(
  'coupon.redeemed',
  'A coupon was redeemed on a subscription. The event contains the redemption.',
);

export const couponRemoved = couponRedemptionEvent(
  'coupon.removed',
  'A coupon was removed from a subscription. The event contains the redemption.',
  { ended_at: '2026-03-01T09:30:00.000Z', removed_at: '2026-03-01T09:30:00.000Z' },
);
