import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  IntegerProperty,
  NestedListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import {
  type CatalogPrice,
  PRICE_MODELS,
  PRICE_TIMINGS,
  type PriceModel,
  type PriceTiming,
} from '../domain/price';

export class PriceTierDto {
  @TextProperty('Last quantity of the tier, as a decimal string; null on the last tier.', '100', {
    nullable: true,
  })
  readonly up_to!: string | null;
  @TextProperty('Minor units per unit, as a decimal string.', '12.5') readonly unit_amount!: string;
  @IntegerProperty('Minor units due once the tier is reached.', 0) readonly flat_amount!: number;
}

/** A price in a response. Fields that its `model` does not have are null. */
export class PriceDto {
  @IdProperty('price_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Description of the invoice line.', 'Extra seats') readonly name!: string;
  @EnumProperty(PRICE_MODELS, 'How the amount is computed from the quantity.', 'per_unit')
  readonly model!: PriceModel;
  @EnumProperty(
    PRICE_TIMINGS,
    'When a period is billed: at its start or after its end.',
    'in_advance',
  )
  readonly timing!: PriceTiming;
  @IntegerProperty('Minor units; only `flat`.', null, { nullable: true })
  readonly amount!: number | null;
  @TextProperty(
    'Minor units for one unit (`per_unit`) or one package (`package`), as a decimal.',
    '500',
    { nullable: true },
  )
  readonly unit_amount!: string | null;
  @NestedListProperty(PriceTierDto, 'Strictly rising tiers; only `graduated` and `volume`.', {
    nullable: true,
    example: null,
  })
  readonly tiers!: readonly PriceTierDto[] | null;
  @TextProperty('Units per package; only `package`.', null, { nullable: true })
  readonly package_size!: string | null;
  @TextProperty('Free units (`package`) or free events (`percentage`).', null, { nullable: true })
  readonly free_units!: string | null;
  @TextProperty('A fraction, 0.029 for 2.9 %; only `percentage`.', null, { nullable: true })
  readonly rate!: string | null;
  @IntegerProperty('Minor units per event; only `percentage`.', null, { nullable: true })
  readonly fixed_amount!: number | null;
  @IntegerProperty('Free minor units; only `percentage`.', null, { nullable: true })
  readonly free_amount!: number | null;
  @IntegerProperty('Minimum minor units per event; only `percentage`.', null, { nullable: true })
  readonly event_minimum_amount!: number | null;
  @IntegerProperty('Maximum minor units per event; only `percentage`.', null, { nullable: true })
  readonly event_maximum_amount!: number | null;
  @TextProperty('Meter whose usage is priced.', null, { nullable: true })
  readonly meter_id!: string | null;
  @BooleanProperty('If true, each group of the meter is priced separately.', false)
  readonly by_group!: boolean;
  @IntegerProperty('Minimum minor units for a whole period.', null, { nullable: true })
  readonly minimum_amount!: number | null;
  @IntegerProperty('Maximum minor units for a whole period.', null, { nullable: true })
  readonly maximum_amount!: number | null;
  @BooleanProperty(
    'If true, the flat amount of the first tier is due at a quantity of 0 or less; only `graduated` and `volume`.',
    null,
    { nullable: true },
  )
  readonly charge_flat_at_zero!: boolean | null;
}

export function toPriceDto(price: CatalogPrice): PriceDto {
  return toDto(PriceDto, {
    ...price,
    tiers: price.tiers?.map((tier) => toDto(PriceTierDto, tier)) ?? null,
    byGroup: price.isByGroup,
  });
}
