import {
  BooleanProperty,
  EnumProperty,
  InstantProperty,
  NestedListProperty,
  NestedProperty,
  TextProperty,
} from '../../../platform/http';

export const MINOR = 'in minor units, as a decimal string';
const OPTIONAL = { optional: true } as const;

class HeldTaxDto {
  @TextProperty('Id of the tax rate.', 'txr_01h455vb4pex5vsknk084sn02q')
  readonly tax_rate_id!: string;
  @TextProperty('Percent.', '19') readonly percentage!: string;
  @BooleanProperty('True if the amounts include the tax.', false) readonly inclusive!: boolean;
  @TextProperty(`Tax not yet credited, ${MINOR}.`, '95') readonly left!: string;
  @TextProperty('Name of the rate.', 'VAT') readonly name!: string;
}

export class HeldDiscountDto {
  @TextProperty('Redemption of the coupon.', 'red_01h455vb4pex5vsknk084sn02q')
  readonly redemption_id!: string;
  @TextProperty(`Discount, ${MINOR}.`, '500') readonly amount!: string;
  @InstantProperty('Start of the period in which the discount was given.', { nullable: true })
  readonly billed_from!: string | null;
}

export class HeldTermsDto {
  @TextProperty(`Left after discounts and credits, ${MINOR}.`, '500')
  readonly held_amount!: string;
  @TextProperty(`Amount before discounts and credits, ${MINOR}.`, '1000')
  readonly listed!: string;
  @NestedListProperty(HeldTaxDto, 'Taxes not yet credited.') readonly taxes!: readonly HeldTaxDto[];
  @BooleanProperty('True if the rates give the tax of a part.', true)
  readonly has_one_set_of_rates!: boolean;
  @NestedListProperty(HeldDiscountDto, 'Discounts that return to their coupons.')
  readonly discounts!: readonly HeldDiscountDto[];
}

class TakenFromDto {
  @TextProperty('Id of the invoice.', 'inv_01h455vb4pex5vsknk084sn02q')
  readonly invoice_id!: string;
  @TextProperty(`Amount that the correction takes from the invoice, ${MINOR}.`, '100')
  readonly amount!: string;
}

class AppliedRateDto {
  @TextProperty('Id of the tax rate.', 'txr_01h455vb4pex5vsknk084sn02q')
  readonly tax_rate_id!: string;
  @TextProperty('Percent.', '19') readonly percentage!: string;
  @BooleanProperty('True if the amounts include the tax.', false) readonly inclusive!: boolean;
  @TextProperty('Name of the rate.', 'VAT') readonly name!: string;
}

class BilledByCouponDto {
  @TextProperty('Redemption of the coupon.', 'red_01h455vb4pex5vsknk084sn02q')
  readonly redemption_id!: string;
  @InstantProperty('When the coupon was redeemed.') readonly redeemed_at!: string;
  @EnumProperty(['once', 'repeating', 'forever'], 'Duration of the coupon.', 'forever')
  readonly duration!: string;
  @TextProperty('Percentage of the coupon; null for an amount coupon.', '50', { nullable: true })
  readonly percent_off!: string | null;
  @TextProperty(
    `Amount that the percentage applied to so far: the bill with later additions and corrections, ${MINOR}.`,
    '1000',
  )
  readonly base!: string;
  @TextProperty(
    `Part of the added usage that was credited before; its discount is at most \`rest\`, ${MINOR}.`,
    '0',
  )
  readonly again!: string;
  @TextProperty(`Remaining amount of the coupon before this line, ${MINOR}.`, '0')
  readonly rest!: string;
  @BooleanProperty('True if this may be the first use of the coupon.', true, OPTIONAL)
  readonly begins?: true;
}

class BilledByDto {
  @InstantProperty('Start of the period of the first bill; null if it has no period.', {
    nullable: true,
  })
  readonly billed_from!: string | null;
  @EnumProperty(['none', 'exempt', 'reverse'], 'Tax treatment of the first bill.', 'none')
  readonly tax_treatment!: string;
  @NestedListProperty(AppliedRateDto, 'Tax rates of the first bill.')
  readonly taxes!: readonly AppliedRateDto[];
  @NestedListProperty(BilledByCouponDto, 'Coupons of the first bill, percentages first.')
  readonly coupons!: readonly BilledByCouponDto[];
}

export class CorrectedUsageDto {
  @TextProperty(`Amount billed so far for the period, ${MINOR}.`, '500') readonly amount!: string;
  @TextProperty(`Part of \`amount\` left after discounts and credits, ${MINOR}.`, '500')
  readonly held_amount!: string;
  @TextProperty('Quantity billed so far.', '5') readonly quantity!: string;
  @NestedProperty(HeldTermsDto, 'Amounts left on the lines billed before.', OPTIONAL)
  readonly held?: HeldTermsDto;
  @TextProperty(`Correction at list prices, ${MINOR}.`, '-100', OPTIONAL)
  readonly difference?: string;
  @NestedListProperty(HeldDiscountDto, 'Discounts on usage taken back.', OPTIONAL)
  readonly returned?: readonly HeldDiscountDto[];
  @TextProperty(`Limit of what is given back, ${MINOR}.`, '100', OPTIONAL)
  readonly most?: string;
  @NestedListProperty(TakenFromDto, 'Invoices that the correction takes from.', OPTIONAL)
  readonly taken?: readonly TakenFromDto[];
  @NestedProperty(
    BilledByDto,
    'Discounts and taxes of the first bill of the period, which also apply to added usage.',
    OPTIONAL,
  )
  readonly billed_by?: BilledByDto;
}
