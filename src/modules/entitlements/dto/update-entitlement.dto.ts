import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsInt, Max, Min } from 'class-validator';
import { HasNoRepeats, IsText, MetadataField, Nullable, Omittable } from '../../../platform/http';
import type { EntitlementChange } from '../domain/entitlement';
import {
  GREATEST_THRESHOLD,
  inOrder,
  LONGEST_NAME,
  LONGEST_UNIT,
  MOST_THRESHOLDS,
} from './create-entitlement.dto';

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

  @Omittable()
  @IsArray()
  @ArrayMaxSize(MOST_THRESHOLDS)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(GREATEST_THRESHOLD, { each: true })
  @HasNoRepeats()
  @ApiPropertyOptional({
    type: [Number],
    maxItems: MOST_THRESHOLDS,
    description: 'Percents of the limit, 1 to 1000: reaching one is told of once in each period.',
    example: [80, 100],
  })
  readonly thresholds?: readonly number[];

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toEntitlementChange(dto: UpdateEntitlementDto): EntitlementChange {
  const { name, unit, thresholds, metadata } = dto;
  return {
    name,
    unit,
    thresholds: thresholds === undefined ? undefined : inOrder(thresholds),
    metadata,
  };
}
