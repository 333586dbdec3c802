import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireInstant,
} from '../../../platform/http';
import type { TaxRate } from '../domain/tax-rate';

export class TaxRateDto {
  @IdProperty('txr_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Name shown on invoices.', example: 'VAT' })
  readonly name!: string;

  @ApiProperty({ description: 'Percent, as a decimal string.', example: '20' })
  readonly percentage!: string;

  @ApiProperty({
    description: 'If true, amounts include this tax; otherwise it is added to them.',
    example: false,
  })
  readonly inclusive!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'ISO 3166-1 alpha-2 code; for display only.',
    example: 'FR',
  })
  readonly country!: string | null;

  @ApiProperty({
    description:
      'An inactive rate cannot be assigned to more customers. Customers who have it keep it.',
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

export function toTaxRateDto(rate: TaxRate): TaxRateDto {
  return {
    id: rate.id,
    name: rate.name,
    percentage: rate.percentage,
    inclusive: rate.inclusive,
    country: rate.country,
    is_active: rate.isActive,
    metadata: rate.metadata,
    created_at: toWireInstant(rate.createdAt),
    updated_at: toWireInstant(rate.updatedAt),
  };
}
