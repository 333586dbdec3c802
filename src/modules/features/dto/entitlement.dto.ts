import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireInstant,
} from '../../../platform/http';
import { type Feature, FEATURE_TYPES, type FeatureType } from '../domain/feature';

export class EntitlementDto {
  @IdProperty('ent_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Unique key that applications use in checks.', example: 'api_calls' })
  readonly key!: string;

  @ApiProperty({ description: 'Display name.', example: 'API calls' })
  readonly name!: string;

  @ApiProperty({
    enum: FEATURE_TYPES,
    description: '`boolean`: on or off; `static`: a fixed number; `metered`: a limit on usage.',
    example: 'static',
  })
  readonly type!: FeatureType;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Display name of the unit that the value counts.',
    example: 'calls',
  })
  readonly unit!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Id of the meter that counts usage; only for type `metered`. Without one, only consumptions count.',
    example: null,
  })
  readonly meter_id!: string | null;

  @ApiProperty({
    type: [Number],
    description: 'Percentages of the limit. Reaching one records an event, once per period.',
    example: [80, 100],
  })
  readonly thresholds!: readonly number[];

  @MetadataProperty()
  readonly metadata!: object;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toEntitlementDto(feature: Feature): EntitlementDto {
  return {
    id: feature.id,
    key: feature.key,
    name: feature.name,
    type: feature.type,
    unit: feature.unit,
    meter_id: feature.meterId,
    thresholds: feature.thresholds,
    metadata: feature.metadata,
    created_at: toWireInstant(feature.createdAt),
    updated_at: toWireInstant(feature.updatedAt),
  };
}
