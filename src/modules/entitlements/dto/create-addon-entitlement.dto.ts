import { DecimalField, EnumField, MetadataField, ReferenceField } from '../../../platform/http';
import {
  type AddonEntitlementTerms,
  ENTITLEMENT_MODES,
  type EntitlementMode,
} from '../domain/addon-entitlement';

export class CreateAddonEntitlementDto {
  @ReferenceField('Id of the add-on.', { example: 'addon_01h455vb4pex5vsknk084sn02q' })
  readonly addon_id!: string;
  @ReferenceField('Id of the entitlement.', { example: 'ent_01h455vb4pex5vsknk084sn02q' })
  readonly entitlement_id!: string;
  @EnumField(
    ENTITLEMENT_MODES,
    '`increment` adds the value to other sources; `set` replaces the values of plans. Default: `increment`. For a boolean entitlement only `set` is allowed, and is the default.',
    { optional: true, example: 'increment' },
  )
  readonly mode?: EntitlementMode;
  @DecimalField(
    'Decimal string; required for a static or metered entitlement, omitted for a boolean one.',
    { nullable: true, example: '1000' },
  )
  readonly value?: string | null;
  @MetadataField() readonly metadata?: Record<string, unknown>;
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
