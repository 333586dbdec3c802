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

  @ApiProperty({ description: 'What an invoice calls it.', example: 'VAT' })
  readonly name!: string;

  @ApiProperty({ description: 'Percent, as a decimal string.', example: '20' })
  readonly percentage!: string;

  @ApiProperty({ description: 'Whether amounts hold this tax already.', example: false })
  readonly inclusive!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'ISO 3166-1 alpha-2; for people.',
    example: 'FR',
  })
  readonly country!: string | null;

  @ApiProperty({
    description: 'An inactive rate is given to no further customer; those who have it keep it.',
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
