import { IsInt, Max, Min } from 'class-validator';
import {
  EnumField,
  IdField,
  ListField,
  MetadataField,
  PatternField,
  TextField,
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
const MAX_THRESHOLDS = 10;
const MAX_THRESHOLD_PERCENT = 1_000;

export function ThresholdsField(description: string): PropertyDecorator {
  const rules = [
    IsInt({ each: true }),
    Min(1, { each: true }),
    Max(MAX_THRESHOLD_PERCENT, { each: true }),
  ];
  const items = { type: 'integer', minimum: 1, maximum: MAX_THRESHOLD_PERCENT };
  const options = {
    max: MAX_THRESHOLDS,
    unique: true,
    optional: true,
    example: [80, 100],
  } as const;
  return ListField(items, rules, description, options);
}

export class CreateEntitlementDto {
  @PatternField(
    FEATURE_KEY,
    'must be 1 to 64 of a-z, 0-9, _, . and -, the first a letter',
    'Unique key that applications use in checks: 1 to 64 characters of a-z, 0-9, _, . and -, the first a letter.',
    { example: 'api_calls' },
  )
  readonly key!: string;
  @TextField('Display name.', { max: MAX_NAME_LENGTH, example: 'API calls' })
  readonly name!: string;
  @EnumField(
    FEATURE_TYPES,
    '`boolean`: on or off; `static`: a fixed number; `metered`: a limit on usage.',
    { example: 'metered' },
  )
  readonly type!: FeatureType;
  @TextField('Display name of the unit that the value counts.', {
    max: MAX_UNIT_LENGTH,
    nullable: true,
    example: 'calls',
  })
  readonly unit?: string | null;
  @IdField(
    'meter',
    'Id of the meter that counts usage. Without one, only `consume` requests count.',
    { nullable: true, example: null },
  )
  readonly meter_id?: string | null;
  @ThresholdsField(
    'Percentages of the limit. Reaching one records an event, once per period. Default: 80 and 100.',
  )
  readonly thresholds?: readonly number[];
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toFeatureTerms(dto: CreateEntitlementDto): FeatureTerms {
  return {
    key: dto.key,
    name: dto.name,
    type: dto.type,
    unit: dto.unit ?? null,
    meterId: dto.meter_id ?? null,
    thresholds: inOrder(dto.thresholds ?? (dto.type === 'metered' ? DEFAULT_THRESHOLDS : [])),
    metadata: dto.metadata ?? {},
  };
}

export function inOrder(thresholds: readonly number[]): readonly number[] {
  return [...thresholds].sort((one, other) => one - other);
}
