import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireInstant,
} from '../../../platform/http';
import { type Entitlement, ENTITLEMENT_TYPES, type EntitlementType } from '../domain/entitlement';

export class EntitlementDto {
  @IdProperty('ent_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Unique key that applications use in checks.', example: 'api_calls' })
  readonly key!: string;

  @ApiProperty({ description: 'Display name.', example: 'API calls' })
  readonly name!: string;

  @ApiProperty({
    enum: ENTITLEMENT_TYPES,
    description: '`boolean`: on or off; `static`: a fixed number; `metered`: a limit on usage.',
    example: 'static',
  })
  readonly type!: EntitlementType;

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

export function toEntitlementDto(entitlement: Entitlement): EntitlementDto {
  return {
    id: entitlement.id,
    key: entitlement.key,
    name: entitlement.name,
    type: entitlement.type,
    unit: entitlement.unit,
    meter_id: entitlement.meterId,
    thresholds: entitlement.thresholds,
    metadata: entitlement.metadata,
    created_at: toWireInstant(entitlement.createdAt),
    updated_at: toWireInstant(entitlement.updatedAt),
  };
}
