import { ApiProperty } from '@nestjs/swagger';
import {
  EnumProperty,
  IdProperty,
  InstantProperty,
  MetadataProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import { type Feature, FEATURE_TYPES, type FeatureType } from '../domain/feature';

export class EntitlementDto {
  @IdProperty('ent_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Unique key that applications use in checks.', 'api_calls') readonly key!: string;
  @TextProperty('Display name.', 'API calls') readonly name!: string;
  @EnumProperty(
    FEATURE_TYPES,
    '`boolean`: on or off; `static`: a fixed number; `metered`: a limit on usage.',
    'metered',
  )
  readonly type!: FeatureType;
  @TextProperty('Display name of the unit that the value counts.', 'calls', { nullable: true })
  readonly unit!: string | null;
  @TextProperty(
    'Id of the meter that counts usage. Without one, only `consume` requests count.',
    null,
    { nullable: true },
  )
  readonly meter_id!: string | null;
  @ApiProperty({
    type: [Number],
    description: 'Percentages of the limit. Reaching one records an event, once per period.',
    example: [80, 100],
  })
  readonly thresholds!: readonly number[];
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

const toDto = mapperTo(EntitlementDto);

/** Shows the thresholds only for type `metered`. */
export function toEntitlementDto(feature: Feature): EntitlementDto {
  return toDto(feature.type === 'metered' ? feature : { ...feature, thresholds: [] });
}
