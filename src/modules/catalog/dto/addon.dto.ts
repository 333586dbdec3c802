import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  NestedListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import type { Addon } from '../domain/addon';
import { PriceDto, toPriceDto } from './price.dto';

export class AddonDto {
  @IdProperty('addon_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Your code for the add-on; unique forever.', 'extra-seats') readonly code!: string;
  @TextProperty('For display only.', 'Extra seats') readonly name!: string;
  @TextProperty('ISO 4217; the currency of all prices.', 'EUR') readonly currency!: string;
  @NestedListProperty(PriceDto, 'Prices, in the order sent.') readonly prices!: readonly PriceDto[];
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export function toAddonDto(addon: Addon): AddonDto {
  return toDto(AddonDto, { ...addon, prices: addon.prices.map(toPriceDto) });
}
