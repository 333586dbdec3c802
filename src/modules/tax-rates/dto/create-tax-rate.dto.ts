import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsString, Matches } from 'class-validator';
import { IsCountry, IsText, MetadataField, Nullable, Omittable } from '../../../platform/http';
import type { TaxRateTerms } from '../domain/tax-rate';

const LONGEST_NAME = 200;

export class CreateTaxRateDto {
  @IsText(1, LONGEST_NAME)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'Name shown on invoices.',
    example: 'VAT',
  })
  readonly name!: string;

  @IsString()
  @Matches(/^(100(\.0{1,4})?|(0|[1-9]\d?)(\.\d{1,4})?)$/, {
    message: 'must be a decimal string from 0 to 100, with at most 4 decimals',
  })
  @ApiProperty({
    description:
      'Percent, as a decimal string. Immutable: for another percentage create another rate.',
    example: '20',
  })
  readonly percentage!: string;

  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({
    default: false,
    description: 'If true, amounts include this tax; otherwise it is added to them.',
    example: false,
  })
  readonly inclusive?: boolean;

  @Nullable()
  @IsCountry()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'ISO 3166-1 alpha-2 code; for display only.',
    example: 'FR',
  })
  readonly country?: string | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toTaxRateTerms(dto: CreateTaxRateDto): TaxRateTerms {
  return {
    name: dto.name,
    percentage: dto.percentage,
    inclusive: dto.inclusive ?? false,
    country: dto.country ?? null,
    metadata: dto.metadata ?? {},
  };
}
