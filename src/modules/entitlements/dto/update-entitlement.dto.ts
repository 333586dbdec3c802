import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsText, MetadataField, Nullable, Omittable } from '../../../platform/http';
import type { EntitlementChange } from '../domain/entitlement';
import { LONGEST_NAME, LONGEST_UNIT } from './create-entitlement.dto';

export class UpdateEntitlementDto {
  @Omittable()
  @IsText(1, LONGEST_NAME)
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For people.',
    example: 'API calls',
  })
  readonly name?: string;

  @Nullable()
  @IsText(1, LONGEST_UNIT)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: LONGEST_UNIT,
    nullable: true,
    description: 'What its value counts, for people.',
    example: 'calls',
  })
  readonly unit?: string | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toEntitlementChange(dto: UpdateEntitlementDto): EntitlementChange {
  return { name: dto.name, unit: dto.unit, metadata: dto.metadata };
}
