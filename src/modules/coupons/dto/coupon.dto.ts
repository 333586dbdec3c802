import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireAmount,
  toWireInstant,
} from '../../../platform/http';
import {
  type Coupon,
  COUPON_DURATIONS,
  COUPON_TYPES,
  type CouponDuration,
  type CouponType,
} from '../domain/coupon';

export class CouponDto {
  @IdProperty('coup_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Code that customers enter; unique.', example: 'WELCOME20' })
  readonly code!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'For display only.',
    example: 'Welcome',
  })
  readonly name!: string | null;

  @ApiProperty({
    enum: COUPON_TYPES,
    description: 'Kind of discount: a percentage or an amount.',
    example: 'percent',
  })
  readonly type!: CouponType;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Percent, as a decimal string.',
    example: '20',
  })
  readonly percent_off!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Minor units of `currency`.',
    example: null,
  })
  readonly amount_off!: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'ISO 4217; only for type `amount`.',
    example: null,
  })
  readonly currency!: string | null;

  @ApiProperty({
    enum: COUPON_DURATIONS,
    description: 'How long the discount lasts.',
    example: 'once',
  })
  readonly duration!: CouponDuration;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Number of months; only for `repeating`.',
    example: null,
  })
  readonly duration_in_months!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Maximum number of redemptions; null: no limit.',
    example: 100,
  })
  readonly max_redemptions!: number | null;

  @ApiProperty({ type: 'integer', description: 'Number of redemptions.', example: 0 })
  readonly times_redeemed!: number;

  @InstantProperty('Last instant at which the coupon can be redeemed.', { nullable: true })
  readonly redeem_by!: string | null;

  @ApiProperty({
    type: [String],
    description: 'Ids of the plans whose prices are discounted; empty for all prices.',
    example: [],
  })
  readonly plan_ids!: readonly string[];

  @ApiProperty({
    description: 'An inactive coupon cannot be redeemed; running discounts continue.',
    example: true,
  })
  readonly is_active!: boolean;

  @MetadataProperty()
  readonly metadata!: object;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toCouponDto(coupon: Coupon): CouponDto {
  return {
    id: coupon.id,
    code: coupon.code,
    name: coupon.name,
    type: coupon.type,
    percent_off: coupon.percentOff,
    amount_off: coupon.amountOff === null ? null : toWireAmount(coupon.amountOff),
    currency: coupon.currency,
    duration: coupon.duration,
    duration_in_months: coupon.durationInMonths,
    max_redemptions: coupon.maxRedemptions,
    times_redeemed: coupon.timesRedeemed,
    redeem_by: toWireInstant(coupon.redeemBy),
    plan_ids: coupon.planIds,
    is_active: coupon.isActive,
    metadata: coupon.metadata,
    created_at: toWireInstant(coupon.createdAt),
    updated_at: toWireInstant(coupon.updatedAt),
  };
}
