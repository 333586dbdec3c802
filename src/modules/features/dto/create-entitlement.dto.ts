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
  FEATURE_KEY,
  FEATURE_TYPES,
  type FeatureTerms,
  type FeatureType,
  DEFAULT_THRESHOLDS,
} from '../domain/feature';

export const MAX_NAME_LENGTH = 200;
export const MAX_UNIT_LENGTH = 40;
export const MAX_THRESHOLDS = 10;
export const MAX_THRESHOLD_PERCENT = 1_000;

export class CreateEntitlementDto {
  @Matches(FEATURE_KEY, {
    message: 'must be 1 to 64 of a-z, 0-9, _, . and -, the first a letter',
  })
  @ApiProperty({
    description:
      'Unique key that applications use in checks: 1 to 64 characters of a-z, 0-9, _, . and -, the first a letter.',
    example: 'api_calls',
  })
  readonly key!: string;

  @IsText(1, MAX_NAME_LENGTH)
  @ApiProperty({
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    description: 'Display name.',
    example: 'API calls',
  })
  readonly name!: string;

  @IsIn(FEATURE_TYPES)
  @ApiProperty({
    enum: FEATURE_TYPES,
    description: '`boolean`: on or off; `static`: a fixed number; `metered`: a limit on usage.',
    example: 'static',
  })
  readonly type!: FeatureType;

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

  @Nullable()
  @IsIdOf('meter')
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'Id of the meter that counts usage; only for type `metered`. Without one, only consumptions count.',
    example: null,
  })
  readonly meter_id?: string | null;

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
      'Percentages of the limit, 1 to 1000. Reaching one records an event, once per period. Default: 80 and 100.',
    example: [80, 100],
  })
  readonly thresholds?: readonly number[];

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toFeatureTerms(dto: CreateEntitlementDto): FeatureTerms {
  return {
    key: dto.key,
    name: dto.name,
    type: dto.type,
    unit: dto.unit ?? null,
    meterId: dto.meter_id ?? null,
    thresholds: inOrder(dto.thresholds ?? DEFAULT_THRESHOLDS),
    metadata: dto.metadata ?? {},
  };
}

export function inOrder(thresholds: readonly number[]): readonly number[] {
  return [...thresholds].sort((one, other) => one - other);
}
