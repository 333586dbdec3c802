import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsInt, Matches, Max, Min } from 'class-validator';
import {
  HasNoRepeats,
  IsIdOf,
  IsText,
  MetadataField,
  Nullable,
  Omittable,
} from '../../../platform/http';
import {
  ENTITLEMENT_KEY,
  ENTITLEMENT_TYPES,
  type EntitlementTerms,
  type EntitlementType,
  USUAL_THRESHOLDS,
} from '../domain/entitlement';

export const LONGEST_NAME = 200;
export const LONGEST_UNIT = 40;
export const MOST_THRESHOLDS = 10;
export const GREATEST_THRESHOLD = 1_000;

export class CreateEntitlementDto {
  @Matches(ENTITLEMENT_KEY, {
    message: 'must be 1 to 64 of a-z, 0-9, _, . and -, the first a letter',
  })
  @ApiProperty({
    description: 'What a program asks for, 1 to 64 of a-z, 0-9, _, . and -; unique.',
    example: 'api_calls',
  })
  readonly key!: string;

  @IsText(1, LONGEST_NAME)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For people.',
    example: 'API calls',
  })
  readonly name!: string;

  @IsIn(ENTITLEMENT_TYPES)
  @ApiProperty({
    enum: ENTITLEMENT_TYPES,
    description: 'On or off, a fixed number, or a limit on what a meter counts.',
    example: 'static',
  })
  readonly type!: EntitlementType;

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

  @Nullable()
  @IsIdOf('meter')
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'The meter that counts; only for type `metered`.',
    example: null,
  })
  readonly meter_id?: string | null;

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
    description:
      'Percents of the limit, 1 to 1000: reaching one is told of once in each period. Left out: 80 and 100.',
    example: [80, 100],
  })
  readonly thresholds?: readonly number[];

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toEntitlementTerms(dto: CreateEntitlementDto): EntitlementTerms {
  return {
    key: dto.key,
    name: dto.name,
    type: dto.type,
    unit: dto.unit ?? null,
    meterId: dto.meter_id ?? null,
    thresholds: inOrder(dto.thresholds ?? USUAL_THRESHOLDS),
    metadata: dto.metadata ?? {},
  };
}

export function inOrder(thresholds: readonly number[]): readonly number[] {
  return [...thresholds].sort((one, other) => one - other);
}
