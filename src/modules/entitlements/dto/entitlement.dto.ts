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

  @ApiProperty({ description: 'What a program asks for; unique.', example: 'api_calls' })
  readonly key!: string;

  @ApiProperty({ description: 'For people.', example: 'API calls' })
  readonly name!: string;

  @ApiProperty({
    enum: ENTITLEMENT_TYPES,
    description: 'On or off, a fixed number, or a limit on what a meter counts.',
    example: 'static',
  })
  readonly type!: EntitlementType;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What its value counts, for people.',
    example: 'calls',
  })
  readonly unit!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The meter that counts; only for type `metered`.',
    example: null,
  })
  readonly meter_id!: string | null;

  @ApiProperty({
    type: [Number],
    description: 'Percents of the limit: reaching one is told of once in each period.',
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
