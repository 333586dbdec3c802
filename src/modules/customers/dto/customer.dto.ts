import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MetadataProperty,
  NestedProperty,
  TextListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import { type Customer, TAX_EXEMPTIONS, type TaxExemption } from '../domain/customer';
import { AddressDto, toAddressDto } from './address.dto';

export class CustomerDto {
  @IdProperty('cus_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Name of the customer.', 'Analytical Engines Ltd') readonly name!: string;
  @TextProperty('Contact e-mail address.', 'ada@example.com', { nullable: true })
  readonly email!: string | null;
  @TextProperty('Id in your system; unique among customers that are not deleted.', 'crm-1042', {
    nullable: true,
  })
  readonly external_id!: string | null;
  @TextProperty('ISO 4217; null until chosen or fixed by the first amount.', 'EUR', {
    nullable: true,
  })
  readonly currency!: string | null;
  @BooleanProperty('True once a payment, a subscription or an invoice fixes the currency.', false)
  readonly currency_locked!: boolean;
  @TextProperty('IANA time zone in which billing periods are computed.', 'Europe/Paris')
  readonly timezone!: string;
  @NestedProperty(AddressDto, 'Postal address.', { nullable: true })
  readonly address!: AddressDto | null;
  @EnumProperty(
    TAX_EXEMPTIONS,
    '`none` (taxed), `exempt`, or `reverse` (reverse charge). Tax is 0 for the latter two.',
    'none',
  )
  readonly tax_exempt!: TaxExemption;
  @TextListProperty('Ids of the tax rates, in display order.', [])
  readonly tax_rate_ids!: readonly string[];
  @IntegerProperty(
    'Hours that renewal invoices stay drafts; null: the default (`INVOICE_GRACE_HOURS`).',
    null,
    { nullable: true },
  )
  readonly invoice_grace_hours!: number | null;
  @TextProperty('Test clock of the customer; null for real time.', null, { nullable: true })
  readonly test_clock_id!: string | null;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export function toCustomerDto(customer: Customer): CustomerDto {
  return toDto(CustomerDto, {
    ...customer,
    address: customer.address === null ? null : toAddressDto(customer.address),
  });
}
