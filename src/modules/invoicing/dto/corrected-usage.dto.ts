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
  @BooleanProperty('If the amounts include the tax.', false) readonly inclusive!: boolean;
  @TextProperty(`Tax that is still held, ${MINOR}.`, '95') readonly left!: string;
  @TextProperty('Name of the rate.', 'VAT') readonly name!: string;
}

export class HeldDiscountDto {
  @TextProperty('Redemption of the coupon.', 'red_01h455vb4pex5vsknk084sn02q')
  readonly redemption_id!: string;
  @TextProperty(`Discount, ${MINOR}.`, '500') readonly amount!: string;
  @InstantProperty('Start of the period in which it was taken.', { nullable: true })
  readonly billed_from!: string | null;
}

export class HeldTermsDto {
  @TextProperty(`Still held after discounts and credits, ${MINOR}.`, '500')
  readonly held_amount!: string;
  @TextProperty(`Listed before discounts and credits, ${MINOR}.`, '1000')
  readonly listed!: string;
  @NestedListProperty(HeldTaxDto, 'Taxes still held.') readonly taxes!: readonly HeldTaxDto[];
  @BooleanProperty('If all of the lines have the same rates.', true)
  readonly has_one_set_of_rates!: boolean;
  @NestedListProperty(HeldDiscountDto, 'Discounts that return to their coupons.')
  readonly discounts!: readonly HeldDiscountDto[];
}

class TakenFromDto {
  @TextProperty('Id of the invoice.', 'inv_01h455vb4pex5vsknk084sn02q')
  readonly invoice_id!: string;
  @TextProperty(`Taken from it, ${MINOR}.`, '100') readonly amount!: string;
}

class AppliedRateDto {
  @TextProperty('Id of the tax rate.', 'txr_01h455vb4pex5vsknk084sn02q')
  readonly tax_rate_id!: string;
  @TextProperty('Percent.', '19') readonly percentage!: string;
  @BooleanProperty('If the amounts include the tax.', false) readonly inclusive!: boolean;
  @TextProperty('Name of the rate.', 'VAT') readonly name!: string;
}

class BilledByCouponDto {
  @TextProperty('Redemption of the coupon.', 'red_01h455vb4pex5vsknk084sn02q')
  readonly redemption_id!: string;
  @InstantProperty('When the coupon was redeemed.') readonly redeemed_at!: string;
  @EnumProperty(['once', 'repeating', 'forever'], 'How long it discounts.', 'forever')
  readonly duration!: string;
  @TextProperty('Percent that it takes off; null for an amount.', '50', { nullable: true })
  readonly percent_off!: string | null;
  @TextProperty(
    `What the percentage was taken off before: the amounts of the bill with what was added since, ${MINOR}.`,
    '1000',
  )
  readonly base!: string;
  @TextProperty(
    `Part of the usage whose discount returned to the coupon before: it takes at most \`rest\` off that, ${MINOR}.`,
    '0',
  )
  readonly again!: string;
  @TextProperty(`What the coupon had left, ${MINOR}.`, '0') readonly rest!: string;
  @BooleanProperty('If it was used in the place of the bill.', true, OPTIONAL)
  readonly begins?: true;
}

class BilledByDto {
  @InstantProperty('Start of the period of the invoice that billed the period first.', {
    nullable: true,
  })
  readonly billed_from!: string | null;
  @EnumProperty(['none', 'exempt', 'reverse'], 'Tax treatment of that invoice.', 'none')
  readonly tax_treatment!: string;
  @NestedListProperty(AppliedRateDto, 'Tax rates of that invoice.')
  readonly taxes!: readonly AppliedRateDto[];
  @NestedListProperty(BilledByCouponDto, 'Coupons of that invoice, percentages first.')
  readonly coupons!: readonly BilledByCouponDto[];
}

export class CorrectedUsageDto {
  @TextProperty(`Billed before, ${MINOR}.`, '500') readonly amount!: string;
  @TextProperty(`Part of it that is neither discounted nor credited, ${MINOR}.`, '500')
  readonly held_amount!: string;
  @TextProperty('Quantity billed before.', '5') readonly quantity!: string;
  @NestedProperty(HeldTermsDto, 'What the lines billed before still hold.', OPTIONAL)
  readonly held?: HeldTermsDto;
  @TextProperty(`Correction at list prices, ${MINOR}.`, '-100', OPTIONAL)
  readonly difference?: string;
  @NestedListProperty(HeldDiscountDto, 'Discounts that returned to their coupons.', OPTIONAL)
  readonly returned?: readonly HeldDiscountDto[];
  @TextProperty(`Limit of what is given back, ${MINOR}.`, '100', OPTIONAL)
  readonly most?: string;
  @NestedListProperty(TakenFromDto, 'Invoices that it is taken from.', OPTIONAL)
  readonly taken?: readonly TakenFromDto[];
  @NestedProperty(
    BilledByDto,
    'Terms of the first bill of the period, which added usage is discounted and taxed by.',
    OPTIONAL,
  )
  readonly billed_by?: BilledByDto;
}
