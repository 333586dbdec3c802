import {
  EnumProperty,
  IdProperty,
  InstantProperty,
  MetadataProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import { ENTITLEMENT_MODES, type EntitlementMode } from '../domain/addon-entitlement';

export class AddonEntitlementDto {
  @IdProperty('aent_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Id of the add-on.', 'addon_01h455vb4pex5vsknk084sn02q') readonly addon_id!: string;
  @TextProperty('Id of the entitlement.', 'ent_01h455vb4pex5vsknk084sn02q')
  readonly entitlement_id!: string;
  @EnumProperty(
    ENTITLEMENT_MODES,
    '`increment` adds the value to other sources; `set` replaces the values of plans.',
    'increment',
  )
  readonly mode!: EntitlementMode;
  @TextProperty('Decimal string; null for a boolean entitlement.', '1000', { nullable: true })
  readonly value!: string | null;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export const toAddonEntitlementDto = mapperTo(AddonEntitlementDto);
