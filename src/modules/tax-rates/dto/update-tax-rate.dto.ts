import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { MetadataField, Omittable } from '../../../platform/http';
import type { TaxRateChange } from '../domain/tax-rate';

export class UpdateTaxRateDto {
  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({
    description: 'If false, the rate cannot be assigned to more customers.',
    example: false,
  })
  readonly is_active?: boolean;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toTaxRateChange(dto: UpdateTaxRateDto): TaxRateChange {
  return { isActive: dto.is_active, metadata: dto.metadata };
}
