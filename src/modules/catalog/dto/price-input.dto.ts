import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { IsDecimal, IsIdOf, IsMinorUnits, IsText, Nullable } from '../../../platform/http';
import {
  PRICE_MODELS,
  PRICE_TIMINGS,
  type PriceModel,
  type PriceTerms,
  type PriceTier,
  type PriceTiming,
} from '../domain/price';

const LONGEST_NAME = 200;
const MOST_TIERS = 100;

export class PriceTierInputDto {
  // Required, and null on the last tier.
  @ValidateIf((_: object, value: unknown) => value !== null)
  @IsDecimal()
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Last quantity of the tier, as a decimal string; null on the last tier only.',
    example: '100',
  })
  readonly up_to!: string | null;

  @IsDecimal()
  @ApiProperty({
    description: 'Minor units per unit, as a decimal string.',
    example: '12.5',
  })
  readonly unit_amount!: string;

  @Nullable()
  @IsMinorUnits(0)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    nullable: true,
    description: 'Minor units due once the tier is reached. Default: 0.',
    example: 0,
  })
  readonly flat_amount?: number | null;
}

/** A price in a request. The required fields depend on its `model`. */
export class PriceInputDto {
  @IsText(1, LONGEST_NAME)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'Description of the invoice line.',
    example: 'Extra seats',
  })
  readonly name!: string;

  @IsIn(PRICE_MODELS)
  @ApiProperty({
    enum: PRICE_MODELS,
    description: 'How the amount is computed from the quantity.',
    example: 'per_unit',
  })
  readonly model!: PriceModel;

  @IsIn(PRICE_TIMINGS)
  @ApiProperty({
    enum: PRICE_TIMINGS,
    description: 'If a period is billed at its start or after its end.',
    example: 'in_advance',
  })
  readonly timing!: PriceTiming;

  @Nullable()
  @IsMinorUnits(0)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    nullable: true,
    description: 'Minor units; for `flat`.',
    example: null,
  })
  readonly amount?: number | null;

  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Minor units for one unit (`per_unit`) or one package (`package`), as a decimal.',
    example: '500',
  })
  readonly unit_amount?: string | null;

  @Nullable()
  @IsArray()
  @ArrayMaxSize(MOST_TIERS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PriceTierInputDto)
  @ApiPropertyOptional({
    type: [PriceTierInputDto],
    maxItems: MOST_TIERS,
    nullable: true,
    description: 'Strictly rising tiers; for `graduated` and `volume`.',
    example: null,
  })
  readonly tiers?: readonly PriceTierInputDto[] | null;

  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Units per package, above 0; for `package`.',
    example: null,
  })
  readonly package_size?: string | null;

  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Free units (`package`) or free events (`percentage`). Default: none.',
    example: null,
  })
  readonly free_units?: string | null;

  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'A fraction, 0.029 for 2.9 %; for `percentage`.',
    example: null,
  })
  readonly rate?: string | null;

  @Nullable()
  @IsMinorUnits(0)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    nullable: true,
    description: 'Minor units per event; for `percentage`. Default: 0.',
    example: null,
  })
  readonly fixed_amount?: number | null;

  @Nullable()
  @IsMinorUnits(0)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    nullable: true,
    description:
      'Free minor units; for `percentage`. Default: none. When either this or `free_units` is used up, both end.',
    example: null,
  })
  readonly free_amount?: number | null;

  @Nullable()
  @IsMinorUnits(0)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    nullable: true,
    description: 'Minimum minor units per event that is not free; for `percentage`.',
    example: null,
  })
  readonly event_minimum_amount?: number | null;

  @Nullable()
  @IsMinorUnits(0)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    nullable: true,
    description: 'Maximum minor units per event; for `percentage`.',
    example: null,
  })
  readonly event_maximum_amount?: number | null;

  @Nullable()
  @IsIdOf('meter')
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'Meter whose usage is priced. A metered price is `in_arrears`. Its usage is never prorated by time, but a flat fee at ' +
      'zero usage is. A `percentage` price applies to the minor units that a `sum` meter adds up.',
    example: null,
  })
  readonly meter_id?: string | null;

  @Nullable()
  @IsBoolean()
  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    description:
      'If true, each group of the meter is priced separately, with its own line. Default: false.',
    example: null,
  })
  readonly by_group?: boolean | null;

  @Nullable()
  @IsMinorUnits(0)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    nullable: true,
    description: 'Minimum minor units for a whole period.',
    example: null,
  })
  readonly minimum_amount?: number | null;

  @Nullable()
  @IsMinorUnits(0)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    nullable: true,
    description: 'Maximum minor units for a whole period.',
    example: null,
  })
  readonly maximum_amount?: number | null;

  @Nullable()
  @IsBoolean()
  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    description:
      'If true, the flat amount of the first tier is due at a quantity of 0; for `graduated` and `volume`. Default: true.',
    example: null,
  })
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
