import { BooleanField, MetadataField } from '../../../platform/http';
import type { TaxRateChange } from '../domain/tax-rate';

export class UpdateTaxRateDto {
  @BooleanField('If false, the rate cannot be assigned to more customers.', {
    optional: true,
    example: false,
  })
  readonly is_active?: boolean;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toTaxRateChange(dto: UpdateTaxRateDto): TaxRateChange {
  return { isActive: dto.is_active, metadata: dto.metadata };
}
