import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { IsDecimal, IsText, MetadataField, Nullable, Omittable } from '../../../platform/http';
import {
  type AddonEntitlementTerms,
  ENTITLEMENT_MODES,
  type EntitlementMode,
} from '../domain/addon-entitlement';

const MAX_ID_LENGTH = 40;

export class CreateAddonEntitlementDto {
  @IsText(1, MAX_ID_LENGTH)
  @ApiProperty({ description: 'Id of the add-on.', example: 'addon_01h455vb4pex5vsknk084sn02q' })
  readonly addon_id!: string;

  @IsText(1, MAX_ID_LENGTH)
  @ApiProperty({
    description: 'Id of the entitlement.',
    example: 'ent_01h455vb4pex5vsknk084sn02q',
  })
  readonly entitlement_id!: string;

  @Omittable()
  @IsIn(ENTITLEMENT_MODES)
  @ApiPropertyOptional({
    enum: ENTITLEMENT_MODES,
    description:
      '`increment` adds the value to other sources; `set` replaces the values of plans. Default: `increment`. For a boolean entitlement only `set` is allowed, and is the default.',
    example: 'increment',
  })
  readonly mode?: EntitlementMode;

  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'Decimal string; required for a static or metered entitlement, omitted for a boolean one.',
    example: '1000',
  })
  readonly value?: string | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toAddonEntitlementTerms(dto: CreateAddonEntitlementDto): AddonEntitlementTerms {
  return {
    addonId: dto.addon_id,
    entitlementId: dto.entitlement_id,
    mode: dto.mode ?? null,
    value: dto.value ?? null,
    metadata: dto.metadata ?? {},
  };
}
