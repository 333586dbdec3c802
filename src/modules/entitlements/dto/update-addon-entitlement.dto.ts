import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { IsDecimal, MetadataField, Nullable, Omittable } from '../../../platform/http';
import {
  type AddonEntitlementChange,
  ENTITLEMENT_MODES,
  type EntitlementMode,
} from '../domain/addon-entitlement';

export class UpdateAddonEntitlementDto {
  @Omittable()
  @IsIn(ENTITLEMENT_MODES)
  @ApiPropertyOptional({
    enum: ENTITLEMENT_MODES,
    description: '`increment` adds the value to other sources; `set` replaces the values of plans.',
    example: 'set',
  })
  readonly mode?: EntitlementMode;

  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Decimal string; null only for a boolean entitlement.',
    example: '1000',
  })
  readonly value?: string | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toAddonEntitlementChange(dto: UpdateAddonEntitlementDto): AddonEntitlementChange {
  return { mode: dto.mode, value: dto.value, metadata: dto.metadata };
}
