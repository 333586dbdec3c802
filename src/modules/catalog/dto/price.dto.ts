import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, toWireAmount } from '../../../platform/http';
import {
  type Price,
  PRICE_MODELS,
  PRICE_TIMINGS,
  type PriceModel,
  type PriceTier,
  type PriceTiming,
  termsOfPrice,
} from '../domain/price';

export class PriceTierDto {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Last quantity of the tier, as a decimal string; null on the last tier.',
    example: '100',
  })
  readonly up_to!: string | null;

  @ApiProperty({ description: 'Minor units per unit, as a decimal string.', example: '12.5' })
  readonly unit_amount!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Minor units due once the tier is reached.',
    example: 0,
  })
  readonly flat_amount!: number;
}

/** A price in a response. Fields that its `model` does not have are null. */
export class PriceDto {
  @IdProperty('price_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Description of the invoice line.', example: 'Extra seats' })
  readonly name!: string;

  @ApiProperty({
    enum: PRICE_MODELS,
    description: 'How the amount is computed from the quantity.',
    example: 'per_unit',
  })
  readonly model!: PriceModel;

  @ApiProperty({
    enum: PRICE_TIMINGS,
    description: 'If a period is billed at its start or after its end.',
    example: 'in_advance',
  })
  readonly timing!: PriceTiming;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Minor units; only `flat`.',
    example: null,
  })
  readonly amount!: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Minor units for one unit (`per_unit`) or one package (`package`), as a decimal.',
    example: '500',
  })
  readonly unit_amount!: string | null;

  @ApiProperty({
    type: [PriceTierDto],
    nullable: true,
    description: 'Strictly rising tiers; only `graduated` and `volume`.',
    example: null,
  })
  readonly tiers!: readonly PriceTierDto[] | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Units per package; only `package`.',
    example: null,
  })
  readonly package_size!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Free units (`package`) or free events (`percentage`).',
    example: null,
  })
  readonly free_units!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'A fraction, 0.029 for 2.9 %; only `percentage`.',
    example: null,
  })
  readonly rate!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Minor units per event; only `percentage`.',
    example: null,
  })
  readonly fixed_amount!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Free minor units; only `percentage`.',
    example: null,
  })
  readonly free_amount!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Minimum minor units per event; only `percentage`.',
    example: null,
  })
  readonly event_minimum_amount!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Maximum minor units per event; only `percentage`.',
    example: null,
  })
  readonly event_maximum_amount!: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Meter whose usage is priced.',
    example: null,
  })
  readonly meter_id!: string | null;

  @ApiProperty({
    description: 'If true, each group of the meter is priced separately.',
    example: false,
  })
  readonly by_group!: boolean;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Minimum minor units for a whole period.',
    example: null,
  })
  readonly minimum_amount!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Maximum minor units for a whole period.',
    example: null,
  })
  readonly maximum_amount!: number | null;

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description:
      'If true, the flat amount of the first tier is due at a quantity of 0; only `graduated` and `volume`.',
    example: null,
  })
  readonly charge_flat_at_zero!: boolean | null;
}

export function toPriceDto(price: Price): PriceDto {
  const terms = termsOfPrice(price);
  return {
    id: price.id,
    name: terms.name,
    model: terms.model,
    timing: terms.timing,
    amount: toNullableAmount(terms.amount),
    unit_amount: terms.unitAmount,
    tiers: terms.tiers?.map(toPriceTierDto) ?? null,
    package_size: terms.packageSize,
    free_units: terms.freeUnits,
    rate: terms.rate,
    fixed_amount: toNullableAmount(terms.fixedAmount),
    free_amount: toNullableAmount(terms.freeAmount),
    event_minimum_amount: toNullableAmount(terms.eventMinimumAmount),
    event_maximum_amount: toNullableAmount(terms.eventMaximumAmount),
    meter_id: terms.meterId,
    by_group: terms.isByGroup,
    minimum_amount: toNullableAmount(terms.minimumAmount),
    maximum_amount: toNullableAmount(terms.maximumAmount),
    charge_flat_at_zero: terms.chargeFlatAtZero,
  };
}

function toPriceTierDto(tier: PriceTier): PriceTierDto {
  return {
    up_to: tier.upTo,
    unit_amount: tier.unitAmount,
    flat_amount: toWireAmount(tier.flatAmount),
  };
}

function toNullableAmount(amount: bigint | null): number | null {
  return amount === null ? null : toWireAmount(amount);
}
