import { IntegerProperty, mapperTo, TextProperty } from '../../../platform/http';

export class RefundableDto {
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @IntegerProperty('Minor units that a refund without `amount` gives back.', 2_000)
  readonly default_amount!: number;
  @IntegerProperty(
    'The largest `amount` of a refund. What exceeds `default_amount` is unused credit of the customer from credit notes and negative invoices.',
    2_500,
  )
  readonly refundable_amount!: number;
}

export const toRefundableDto = mapperTo(RefundableDto);
