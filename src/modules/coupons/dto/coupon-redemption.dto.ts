import { nonNegative } from '../../../core/money';
import {
  IdProperty,
  InstantProperty,
  IntegerProperty,
  ListQueryDto,
  TextProperty,
  toDto,
} from '../../../platform/http';
import { ExpandCustomerField } from '../../customers';
import { type RedeemedTerms, restOf } from '../domain/redemption';

export class ListCouponRedemptionsDto extends ListQueryDto {
  @ExpandCustomerField() readonly expand?: readonly 'customer'[];
}

export class CouponRedemptionDto {
  @IdProperty('red_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Id of the coupon.', 'coup_01h455vb4pex5vsknk084sn02q') readonly coupon_id!: string;
  @TextProperty('Code of the coupon.', 'WELCOME20') readonly code!: string;
  @TextProperty('Id of the subscription.', 'sub_01h455vb4pex5vsknk084sn02q')
  readonly subscription_id!: string;
  @TextProperty('Id of the customer.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('ISO 4217; the currency of the subscription.', 'EUR') readonly currency!: string;
  @IntegerProperty(
    'Minor units taken off so far, minus discounts on charges that credits took back.',
    0,
  )
  readonly applied_amount!: number;
  @IntegerProperty(
    'Minor units left for duration `once`: the rest of `amount_off`; with `percent_off`, discounts on charges that credits took back, for the same billing period. Otherwise null.',
    null,
    { nullable: true },
  )
  readonly remaining_amount!: number | null;
  @InstantProperty('When the coupon was redeemed.') readonly redeemed_at!: string;
  @InstantProperty(
    'Start of the first billing period without the discount: `duration_in_months` after the start of the first discounted period. Null until that period, and for durations other than `repeating`.',
    { nullable: true, example: null },
  )
  readonly ends_at!: string | null;
  @InstantProperty('When the redemption was used up or removed, or its subscription ended.', {
    nullable: true,
    example: null,
  })
  readonly ended_at!: string | null;
  @InstantProperty('When the coupon was removed from the subscription.', {
    nullable: true,
    example: null,
  })
  readonly removed_at!: string | null;
}

export function toCouponRedemptionDto({ redemption, coupon }: RedeemedTerms): CouponRedemptionDto {
  const rest = restOf({ redemption, coupon });
  return toDto(CouponRedemptionDto, {
    ...redemption,
    remainingAmount: rest === null ? null : nonNegative(rest),
    appliedAmount: redemption.appliedAmount + redemption.correctionsAmount,
    couponId: coupon.id,
    code: coupon.code,
  });
}
