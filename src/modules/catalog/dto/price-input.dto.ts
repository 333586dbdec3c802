import {
  BooleanField,
  DecimalField,
  EnumField,
  IdField,
  MinorUnitsField,
  NestedListField,
  TextField,
} from '../../../platform/http';
import {
  PRICE_MODELS,
  PRICE_TIMINGS,
  type PriceModel,
  type PriceTerms,
  type PriceTier,
  type PriceTiming,
} from '../domain/price';

const MAX_NAME_LENGTH = 200;
const MAX_TIERS = 100;

export class PriceTierInputDto {
  @DecimalField('Last quantity of the tier, as a decimal string; null on the last tier only.', {
    nullable: 'required',
    example: '100',
  })
  readonly up_to!: string | null;
  @DecimalField('Minor units per unit, as a decimal string.', { example: '12.5' })
  readonly unit_amount!: string;
  @MinorUnitsField(0, 'Minor units due once the tier is reached. Default: 0.', {
    nullable: true,
    example: 0,
  })
  readonly flat_amount?: number | null;
}

/** A price in a request. The required fields depend on its `model`. */
export class PriceInputDto {
  @TextField('Description of the invoice line.', { max: MAX_NAME_LENGTH, example: 'Extra seats' })
  readonly name!: string;
  @EnumField(PRICE_MODELS, 'How the amount is computed from the quantity.', { example: 'per_unit' })
  readonly model!: PriceModel;
  @EnumField(PRICE_TIMINGS, 'When a period is billed: at its start or after its end.', {
    example: 'in_advance',
  })
  readonly timing!: PriceTiming;
  @MinorUnitsField(0, 'Minor units; for `flat`.', { nullable: true, example: null })
  readonly amount?: number | null;
  @DecimalField('Minor units for one unit (`per_unit`) or one package (`package`), as a decimal.', {
    nullable: true,
    example: '500',
  })
  readonly unit_amount?: string | null;
  @NestedListField(PriceTierInputDto, 'Strictly rising tiers; for `graduated` and `volume`.', {
    max: MAX_TIERS,
    nullable: true,
    example: null,
  })
  readonly tiers?: readonly PriceTierInputDto[] | null;
  @DecimalField('Units per package, above 0; for `package`.', { nullable: true, example: null })
  readonly package_size?: string | null;
  @DecimalField('Free units (`package`) or free events (`percentage`). Default: none.', {
    nullable: true,
    example: null,
  })
  readonly free_units?: string | null;
  @DecimalField('A fraction, 0.029 for 2.9 %; for `percentage`.', { nullable: true, example: null })
  readonly rate?: string | null;
  @MinorUnitsField(0, 'Minor units per event; for `percentage`. Default: 0.', {
    nullable: true,
    example: null,
  })
  readonly fixed_amount?: number | null;
  @MinorUnitsField(
    0,
    'Free minor units; for `percentage`. Default: none. When either this or `free_units` is used up, both end.',
    { nullable: true, example: null },
  )
  readonly free_amount?: number | null;
  @MinorUnitsField(
    0,
    'Minimum minor units per event that is not free, also if its amount is negative; for `percentage`.',
    {
      nullable: true,
      example: null,
    },
  )
  readonly event_minimum_amount?: number | null;
  @MinorUnitsField(0, 'Maximum minor units per event; for `percentage`.', {
    nullable: true,
    example: null,
  })
  readonly event_maximum_amount?: number | null;
  @IdField(
    'meter',
    'Meter whose usage is priced. A metered price is `in_arrears`. Usage is not prorated by time; a minimum, a maximum and a flat ' +
      'amount for a quantity of 0 or less are. A `percentage` price applies to the minor units that a `sum` meter adds up.',
    { nullable: true, example: null },
  )
  readonly meter_id?: string | null;
  @BooleanField(
    'If true, each group of the meter is priced separately, with its own line. Default: false.',
    { nullable: true, example: null },
  )
  readonly by_group?: boolean | null;
  @MinorUnitsField(0, 'Minimum minor units for a whole period.', { nullable: true, example: null })
  readonly minimum_amount?: number | null;
  @MinorUnitsField(0, 'Maximum minor units for a whole period.', { nullable: true, example: null })
  readonly maximum_amount?: number | null;
  @BooleanField(
    'If true, the flat amount of the first tier is due at a quantity of 0 or less; for `graduated` and `volume`. Default: true.',
    { nullable: true, example: null },
  )
  readonly charge_flat_at_zero?: boolean | null;
}

export function toPriceTerms(dto: PriceInputDto): PriceTerms {
  return {
    name: dto.name,
    model: dto.model,
    timing: dto.timing,
    amount: toAmount(dto.amount),
    unitAmount: dto.unit_amount ?? null,
    tiers: dto.tiers?.map(toPriceTier) ?? null,
    packageSize: dto.package_size ?? null,
    freeUnits: dto.free_units ?? null,
    rate: dto.rate ?? null,
    fixedAmount: toAmount(dto.fixed_amount),
    freeAmount: toAmount(dto.free_amount),
    eventMinimumAmount: toAmount(dto.event_minimum_amount),
    eventMaximumAmount: toAmount(dto.event_maximum_amount),
    meterId: dto.meter_id ?? null,
    isByGroup: dto.by_group ?? false,
    minimumAmount: toAmount(dto.minimum_amount),
    maximumAmount: toAmount(dto.maximum_amount),
    chargeFlatAtZero: dto.charge_flat_at_zero ?? null,
  };
}

function toPriceTier(dto: PriceTierInputDto): PriceTier {
  return {
    upTo: dto.up_to,
    unitAmount: dto.unit_amount,
    flatAmount: toAmount(dto.flat_amount) ?? 0n,
  };
}

function toAmount(amount: number | null | undefined): bigint | null {
  return typeof amount === 'number' ? BigInt(amount) : null;
}
