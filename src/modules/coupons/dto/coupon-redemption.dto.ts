import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, InstantProperty, toWireAmount, toWireInstant } from '../../../platform/http';
import type { RedeemedTerms } from '../domain/redemption';

export class CouponRedemptionDto {
  @IdProperty('red_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Id of the coupon.', example: 'coup_01h455vb4pex5vsknk084sn02q' })
  readonly coupon_id!: string;

  @ApiProperty({ description: 'Code of the coupon.', example: 'WELCOME20' })
  readonly code!: string;

  @ApiProperty({
    description: 'Id of the subscription.',
    example: 'sub_01h455vb4pex5vsknk084sn02q',
  })
  readonly subscription_id!: string;

  @ApiProperty({
    description: 'Id of the customer.',
    example: 'cus_01h455vb4pex5vsknk084sn02q',
  })
  readonly customer_id!: string;

  @ApiProperty({ description: 'ISO 4217; the currency of the subscription.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Minor units taken off so far, minus discounts returned by credits.',
    example: 0,
  })
  readonly applied_amount!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Minor units left for duration `once`: the rest of an amount, or the discount that a credit returned to a percentage. Null for any other coupon.',
    example: null,
  })
  readonly remaining_amount!: number | null;

  @InstantProperty('When the coupon was redeemed.')
  readonly redeemed_at!: string;

  @InstantProperty(
    'Start of the first billing period without the discount: `duration_in_months` after the start of the first discounted period. Null until that period, and for durations other than `repeating`.',
    { nullable: true },
  )
  readonly ends_at!: string | null;

  @InstantProperty('When the redemption was used up or removed, or its subscription ended.', {
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
