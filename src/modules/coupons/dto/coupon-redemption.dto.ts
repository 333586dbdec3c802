import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, InstantProperty, toWireAmount, toWireInstant } from '../../../platform/http';
import type { RedeemedTerms } from '../domain/redemption';

export class CouponRedemptionDto {
  @IdProperty('red_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'The coupon.', example: 'coup_01h455vb4pex5vsknk084sn02q' })
  readonly coupon_id!: string;

  @ApiProperty({ description: 'Its code.', example: 'WELCOME20' })
  readonly code!: string;

  @ApiProperty({
    description: 'The subscription it was redeemed on.',
    example: 'sub_01h455vb4pex5vsknk084sn02q',
  })
  readonly subscription_id!: string;

  @ApiProperty({
    description: 'The customer of the subscription.',
    example: 'cus_01h455vb4pex5vsknk084sn02q',
  })
  readonly customer_id!: string;

  @ApiProperty({ description: 'ISO 4217; of the subscription.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Minor units taken off so far.',
    example: 0,
  })
  readonly applied_amount!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Minor units left of an amount that lasts `once`; null for any other coupon.',
    example: null,
  })
  readonly remaining_amount!: number | null;

  @InstantProperty('When it was redeemed.')
  readonly redeemed_at!: string;

  @InstantProperty('First instant at which it no longer counts; only for duration `repeating`.', {
    nullable: true,
  })
  readonly ends_at!: string | null;

  @InstantProperty('When it was used up, taken away, or its subscription ended.', {
    nullable: true,
  })
  readonly ended_at!: string | null;
}

export function toCouponRedemptionDto({ redemption, coupon }: RedeemedTerms): CouponRedemptionDto {
  const { appliedAmount, remainingAmount } = redemption;
  return {
    id: redemption.id,
    coupon_id: coupon.id,
    code: coupon.code,
    subscription_id: redemption.subscriptionId,
    customer_id: redemption.customerId,
    currency: redemption.currency,
    applied_amount: toWireAmount(appliedAmount),
    remaining_amount: remainingAmount === null ? null : toWireAmount(remainingAmount),
    redeemed_at: toWireInstant(redemption.redeemedAt),
    ends_at: toWireInstant(redemption.endsAt),
    ended_at: toWireInstant(redemption.endedAt),
  };
}
