import { DecimalField, EnumField, MetadataField } from '../../../platform/http';
import {
  type AddonEntitlementChange,
  ENTITLEMENT_MODES,
  type EntitlementMode,
} from '../domain/addon-entitlement';

export class UpdateAddonEntitlementDto {
  @EnumField(
    ENTITLEMENT_MODES,
    '`increment` adds the value to other sources; `set` replaces the values of plans.',
    { optional: true, example: 'set' },
  )
  readonly mode?: EntitlementMode;
  @DecimalField('Decimal string; null only for a boolean entitlement.', {
    nullable: true,
    example: '1000',
  })
  readonly value?: string | null;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toAddonEntitlementChange(dto: UpdateAddonEntitlementDto): AddonEntitlementChange {
  return { mode: dto.mode, value: dto.value, metadata: dto.metadata };
}
