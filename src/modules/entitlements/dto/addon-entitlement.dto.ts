import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireInstant,
} from '../../../platform/http';
import {
  type AddonEntitlement,
  ENTITLEMENT_MODES,
  type EntitlementMode,
} from '../domain/addon-entitlement';

export class AddonEntitlementDto {
  @IdProperty('aent_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Id of the add-on.', example: 'addon_01h455vb4pex5vsknk084sn02q' })
  readonly addon_id!: string;

  @ApiProperty({
    description: 'Id of the entitlement.',
    example: 'ent_01h455vb4pex5vsknk084sn02q',
  })
  readonly entitlement_id!: string;

  @ApiProperty({
    enum: ENTITLEMENT_MODES,
    description: '`increment` adds the value to other sources; `set` replaces the values of plans.',
    example: 'increment',
  })
  readonly mode!: EntitlementMode;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Decimal string; null for a boolean entitlement.',
    example: '1000',
  })
  readonly value!: string | null;

  @MetadataProperty()
  readonly metadata!: object;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toAddonEntitlementDto(link: AddonEntitlement): AddonEntitlementDto {
  return {
    id: link.id,
    addon_id: link.addonId,
    entitlement_id: link.entitlementId,
    mode: link.mode,
    value: link.value,
    metadata: link.metadata,
    created_at: toWireInstant(link.createdAt),
    updated_at: toWireInstant(link.updatedAt),
  };
}
