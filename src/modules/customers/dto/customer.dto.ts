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

  @ApiProperty({ description: 'Who is billed.', example: 'Analytical Engines Ltd' })
  readonly name!: string;

  @ApiProperty({
    type: String,
    format: 'email',
    nullable: true,
    description: 'Where the customer is written to.',
    example: 'ada@example.com',
  })
  readonly email!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Your own id of this customer; unique among those not deleted.',
    example: 'crm-1042',
  })
  readonly external_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'ISO 4217; null until it is chosen, or until the first amount that refers to the customer fixes it.',
    example: 'EUR',
  })
  readonly currency!: string | null;

  @ApiProperty({
    description: 'Whether an amount refers to the customer, so that its currency stays.',
    example: false,
  })
  readonly currency_locked!: boolean;

  @ApiProperty({
    description: 'IANA time zone in which periods are counted.',
    example: 'Europe/Paris',
  })
  readonly timezone!: string;

  @ApiProperty({ type: AddressDto, nullable: true, description: 'Postal address.' })
  readonly address!: AddressDto | null;

  @ApiProperty({
    enum: TAX_EXEMPTIONS,
    description: 'Taxed (`none`), `exempt`, or taxed by the `reverse` charge: then tax is 0.',
    example: 'none',
  })
  readonly tax_exempt!: TaxExemption;

  @ApiProperty({
    type: [String],
    description: 'Tax rates it is billed, in the order they are shown.',
    example: [],
  })
  readonly tax_rate_ids!: readonly string[];

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Hours for which its renewal invoices stay drafts; null: as configured (`INVOICE_GRACE_HOURS`).',
    example: null,
  })
  readonly invoice_grace_hours!: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The test clock it lives on; null: it lives in real time.',
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
