import { defineEvent } from '../../platform/outbox';
import { CouponRedemptionDto, toCouponRedemptionDto } from './dto/coupon-redemption.dto';
import { CouponDto, toCouponDto } from './dto/coupon.dto';

export const couponCreated = defineEvent({
  type: 'coupon.created',
  meaning: 'A coupon was created.',
  dto: CouponDto,
  toDto: toCouponDto,
});

export const couponUpdated = defineEvent({
  type: 'coupon.updated',
  meaning: 'A coupon was activated or deactivated, or its metadata changed.',
  dto: CouponDto,
  toDto: toCouponDto,
});

export const couponDeleted = defineEvent({
  type: 'coupon.deleted',
  meaning:
    'A coupon without redemptions was deleted. The event contains its last state. Its code is free again.',
  dto: CouponDto,
  toDto: toCouponDto,
});

export const couponRedeemed = defineEvent({
  type: 'coupon.redeemed',
  meaning: 'A coupon was redeemed on a subscription. The event contains the redemption.',
  dto: CouponRedemptionDto,
  toDto: toCouponRedemptionDto,
});
