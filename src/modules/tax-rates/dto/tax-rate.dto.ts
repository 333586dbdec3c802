import {
  BooleanProperty,
  IdProperty,
  InstantProperty,
  MetadataProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';

export class TaxRateDto {
  @IdProperty('txr_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Name shown on invoices.', 'VAT') readonly name!: string;
  @TextProperty('Percent, as a decimal string.', '20') readonly percentage!: string;
  @BooleanProperty('If true, amounts include this tax; otherwise it is added to them.', false)
  readonly inclusive!: boolean;
  @TextProperty('ISO 3166-1 alpha-2 code; for display only.', 'FR', { nullable: true })
  readonly country!: string | null;
  @BooleanProperty(
    'An inactive rate cannot be assigned to more customers. Customers who have it keep it.',
    true,
  )
  readonly is_active!: boolean;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export const toTaxRateDto = mapperTo(TaxRateDto);
