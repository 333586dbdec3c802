import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireInstant,
} from '../../../platform/http';
import type { Addon } from '../domain/addon';
import { PriceDto, toPriceDto } from './price.dto';

export class AddonDto {
  @IdProperty('addon_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Your code for the add-on; unique forever.', example: 'extra-seats' })
  readonly code!: string;

  @ApiProperty({ description: 'For display only.', example: 'Extra seats' })
  readonly name!: string;

  @ApiProperty({ description: 'ISO 4217; the currency of all prices.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({ type: [PriceDto], description: 'Prices, in the order sent.' })
  readonly prices!: readonly PriceDto[];

  @MetadataProperty()
  readonly metadata!: object;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toAddonDto(addon: Addon): AddonDto {
  return {
    id: addon.id,
    code: addon.code,
    name: addon.name,
    currency: addon.currency,
    prices: addon.prices.map(toPriceDto),
    metadata: addon.metadata,
    created_at: toWireInstant(addon.createdAt),
    updated_at: toWireInstant(addon.updatedAt),
  };
}
