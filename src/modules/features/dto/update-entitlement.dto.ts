import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsInt, Max, Min } from 'class-validator';
import { HasNoRepeats, IsText, MetadataField, Nullable, Omittable } from '../../../platform/http';
import type { FeatureChange } from '../domain/feature';
import {
  MAX_THRESHOLD_PERCENT,
  inOrder,
  MAX_NAME_LENGTH,
  MAX_UNIT_LENGTH,
  MAX_THRESHOLDS,
} from './create-entitlement.dto';

export class UpdateEntitlementDto {
  @Omittable()
  @IsText(1, MAX_NAME_LENGTH)
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    description: 'Display name.',
    example: 'API calls',
  })
  readonly name?: string;

  @Nullable()
  @IsText(1, MAX_UNIT_LENGTH)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: MAX_UNIT_LENGTH,
    nullable: true,
    description: 'Display name of the unit that the value counts.',
    example: 'calls',
  })
  readonly unit?: string | null;

  @Omittable()
  @IsArray()
  @ArrayMaxSize(MAX_THRESHOLDS)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(MAX_THRESHOLD_PERCENT, { each: true })
  @HasNoRepeats()
  @ApiPropertyOptional({
    type: [Number],
    maxItems: MAX_THRESHOLDS,
    description:
      'Percentages of the limit, 1 to 1000. Reaching one records an event, once per period.',
    example: [80, 100],
  })
  readonly thresholds?: readonly number[];

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toFeatureChange(dto: UpdateEntitlementDto): FeatureChange {
  const { name, unit, thresholds, metadata } = dto;
  return {
    name,
    unit,
    thresholds: thresholds === undefined ? undefined : inOrder(thresholds),
    metadata,
  };
}
