import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireInstant,
} from '../../../platform/http';
import { type Customer, TAX_EXEMPTIONS, type TaxExemption } from '../domain/customer';
import { AddressDto, toAddressDto } from './address.dto';

export class CustomerDto {
  @IdProperty('cus_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Name of the customer.', example: 'Analytical Engines Ltd' })
  readonly name!: string;

  @ApiProperty({
    type: String,
    format: 'email',
    nullable: true,
    description: 'Contact e-mail address.',
    example: 'ada@example.com',
  })
  readonly email!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Id in your system; unique among customers that are not deleted.',
    example: 'crm-1042',
  })
  readonly external_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'ISO 4217; null until chosen or fixed by the first amount.',
    example: 'EUR',
  })
  readonly currency!: string | null;

  @ApiProperty({
    description: 'If true, an amount refers to the customer and the currency cannot change.',
    example: false,
  })
  readonly currency_locked!: boolean;

  @ApiProperty({
    description: 'IANA time zone in which billing periods are computed.',
    example: 'Europe/Paris',
  })
  readonly timezone!: string;

  @ApiProperty({ type: AddressDto, nullable: true, description: 'Postal address.' })
  readonly address!: AddressDto | null;

  @ApiProperty({
    enum: TAX_EXEMPTIONS,
    description:
      '`none` (taxed), `exempt`, or `reverse` (reverse charge). Tax is 0 for the latter two.',
    example: 'none',
  })
  readonly tax_exempt!: TaxExemption;

  @ApiProperty({
    type: [String],
    description: 'Ids of the tax rates, in display order.',
    example: [],
  })
  readonly tax_rate_ids!: readonly string[];

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Hours that renewal invoices stay drafts; null: the default (`INVOICE_GRACE_HOURS`).',
    example: null,
  })
  readonly invoice_grace_hours!: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Test clock of the customer; null for real time.',
    example: null,
  })
  readonly test_clock_id!: string | null;

  @MetadataProperty()
  readonly metadata!: object;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toCustomerDto(customer: Customer): CustomerDto {
  return {
    id: customer.id,
    name: customer.name,
    email: customer.email,
    external_id: customer.externalId,
    currency: customer.currency,
    currency_locked: customer.currencyLocked,
    timezone: customer.timezone,
    address: customer.address === null ? null : toAddressDto(customer.address),
    tax_exempt: customer.taxExempt,
    tax_rate_ids: customer.taxRateIds,
    invoice_grace_hours: customer.invoiceGraceHours,
    test_clock_id: customer.testClockId,
    metadata: customer.metadata,
    created_at: toWireInstant(customer.createdAt),
    updated_at: toWireInstant(customer.updatedAt),
  };
}
