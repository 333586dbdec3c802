import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MetadataProperty,
  TextListProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import {
  COUPON_DURATIONS,
  COUPON_TYPES,
  type CouponDuration,
  type CouponType,
} from '../domain/coupon';

export class CouponDto {
  @IdProperty('coup_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Code that customers enter; unique.', 'WELCOME20') readonly code!: string;
  @TextProperty('For display only.', 'Welcome', { nullable: true }) readonly name!: string | null;
  @EnumProperty(COUPON_TYPES, 'Kind of discount: a percentage or an amount.', 'percent')
  readonly type!: CouponType;
  @TextProperty('Percent, as a decimal string.', '20', { nullable: true })
  readonly percent_off!: string | null;
  @IntegerProperty('Minor units of `currency`.', null, { nullable: true })
  readonly amount_off!: number | null;
  @TextProperty('ISO 4217; only for type `amount`.', null, { nullable: true })
  readonly currency!: string | null;
  @EnumProperty(COUPON_DURATIONS, 'How long the discount lasts.', 'once')
  readonly duration!: CouponDuration;
  @IntegerProperty('Number of months; only for `repeating`.', null, { nullable: true })
  readonly duration_in_months!: number | null;
  @IntegerProperty('Maximum number of redemptions; null: no limit.', 100, { nullable: true })
  readonly max_redemptions!: number | null;
  @IntegerProperty('Number of redemptions.', 0) readonly times_redeemed!: number;
  @InstantProperty('Last instant at which the coupon can be redeemed.', {
    nullable: true,
    example: '2026-04-01T09:30:00.000Z',
  })
  readonly redeem_by!: string | null;
  @TextListProperty('Ids of the plans whose prices are discounted; empty for all prices.', [])
  readonly plan_ids!: readonly string[];
  @BooleanProperty('An inactive coupon cannot be redeemed; running discounts continue.', true)
  readonly is_active!: boolean;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export const toCouponDto = mapperTo(CouponDto);
