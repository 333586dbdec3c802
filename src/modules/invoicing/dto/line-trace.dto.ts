import { ApiProperty } from '@nestjs/swagger';
import { toJson } from '../../../core/exact-json';
import {
  BooleanProperty,
  EnumProperty,
  InstantProperty,
  NestedListProperty,
  NestedProperty,
  TextListProperty,
  TextProperty,
} from '../../../platform/http';
import type { LineTrace } from '../domain/trace';
import { CorrectedUsageDto, HeldDiscountDto, HeldTermsDto, MINOR } from './corrected-usage.dto';

const STEP_KINDS = [
  'flat',
  'unit',
  'tier',
  'package',
  'rate',
  'fixed',
  'event_minimum',
  'event_maximum',
] as const;

class TracedProrationDto {
  @TextProperty('Days or seconds of the part.', '15') readonly numerator!: string;
  @TextProperty('Days or seconds of the full period.', '31') readonly denominator!: string;
  @EnumProperty(['day', 'second'], 'What is counted.', 'day') readonly unit!: 'day' | 'second';
}

class TracedTierDto {
  @TextProperty('Last quantity of the tier; null on the last tier.', '100', { nullable: true })
  readonly up_to!: string | null;
  @TextProperty('Minor units per unit.', '12.5') readonly unit_amount!: string;
  @TextProperty('Minor units due once the tier is reached.', '0') readonly flat_amount!: string;
}

const OPTIONAL = { optional: true } as const;
const OPTIONAL_OR_NULL = { optional: true, nullable: true } as const;

class TracedPriceDto {
  @EnumProperty(
    ['flat', 'per_unit', 'graduated', 'volume', 'package', 'percentage'],
    'How the amount is computed. The other fields are those of the model.',
    'per_unit',
  )
  readonly model!: string;
  @TextProperty('Minor units; `flat`.', '2900', OPTIONAL) readonly amount?: string;
  @TextProperty('Minor units for one unit or package.', '500', OPTIONAL)
  readonly unit_amount?: string;
  @NestedListProperty(TracedTierDto, 'Rising tiers; `graduated` and `volume`.', OPTIONAL)
  readonly tiers?: readonly TracedTierDto[];
  @BooleanProperty(
    'True if the first flat amount is due at a quantity of 0 or less.',
    true,
    OPTIONAL,
  )
  readonly charge_flat_at_zero?: boolean;
  @TextProperty('Units per package.', '100', OPTIONAL) readonly package_size?: string;
  @TextProperty('Free units; `package`.', '0', OPTIONAL) readonly free_units?: string;
  @TextProperty('A fraction, 0.029 for 2.9 %; `percentage`.', '0.029', OPTIONAL)
  readonly rate?: string;
  @TextProperty('Minor units for each event; `percentage`.', '30', OPTIONAL)
  readonly fixed_amount?: string;
  @TextProperty('Events without a charge; `percentage`.', '0', OPTIONAL)
  readonly free_events?: string;
  @TextProperty('Minor units without a charge; `percentage`.', '0', OPTIONAL)
  readonly free_amount?: string;
  @TextProperty('Minimum minor units per event.', null, OPTIONAL_OR_NULL)
  readonly event_minimum?: string | null;
  @TextProperty('Maximum minor units per event.', null, OPTIONAL_OR_NULL)
  readonly event_maximum?: string | null;
}

class TraceStepDto {
  @EnumProperty(STEP_KINDS, 'What the step adds.', 'tier')
  readonly kind!: (typeof STEP_KINDS)[number];
  @ApiProperty({
    type: 'integer',
    required: false,
    description: 'Index of the tier, from 0; kind `tier` only.',
    example: 0,
  })
  readonly tier?: number;
  @TextProperty('Exact quantity; 0 for an amount without units.', '5') readonly quantity!: string;
  @TextProperty(`Exact amount for one unit, ${MINOR}.`, '500') readonly unit_amount!: string;
  @TextProperty(`Exact amount besides the units, ${MINOR}.`, '0') readonly flat_amount!: string;
}

class TracedMeterDto {
  @TextProperty('Id of the meter.', 'meter_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Key of the meter.', 'tokens') readonly key!: string;
  @TextProperty('Name of its events.', 'api_call') readonly event_name!: string;
  @TextProperty('Aggregation of the meter.', 'sum') readonly aggregation!: string;
  @TextProperty('Property that it reads.', 'tokens', { nullable: true })
  readonly value_property!: string | null;
  @ApiProperty({
    type: 'array',
    items: {
      type: 'object',
      required: ['property', 'in'],
      properties: {
        property: { type: 'string' },
        in: { type: 'array', items: { type: 'string' } },
      },
    },
    description: 'Events count if they pass all filters.',
    example: [],
  })
  readonly filters!: readonly { readonly property: string; readonly in: readonly string[] }[];
  @TextListProperty('Properties that it groups by.', ['model'])
  readonly group_by!: readonly string[];
}

class TracedPeriodDto {
  @InstantProperty('Start.') readonly start_at!: string;
  @InstantProperty('End, exclusive.', { example: '2026-04-01T09:30:00.000Z' })
  readonly end_at!: string;
}

class ChargedEventsDto {
  @TextProperty('Number of events that are charged.', '3') readonly events!: string;
  @TextProperty('Sum of their values.', '1000') readonly base!: string;
  @TextProperty(`Added by the minimum per event, ${MINOR}.`, '0')
  readonly raised_by!: string;
  @TextProperty(`Change by the maximum per event, zero or negative, ${MINOR}.`, '0')
  readonly lowered_by!: string;
}

class TracedPartDto {
  @ApiProperty({
    type: 'array',
    items: { type: 'string', nullable: true },
    nullable: true,
    description:
      'The text of each `group_by` property of the meter; null for a value that is not a text, number or boolean. Null as a whole: all groups.',
    example: ['large'],
  })
  readonly group!: readonly (string | null)[] | null;
  @TextProperty('Exact quantity.', '5') readonly quantity!: string;
  @TextProperty('Number of events in the period.', '5') readonly events!: string;
  @NestedProperty(ChargedEventsDto, 'Charges of a percentage price for the events.', {
    nullable: true,
    example: null,
  })
  readonly charged!: ChargedEventsDto | null;
  @NestedListProperty(TraceStepDto, 'Steps whose sum is the exact amount of the part.')
  readonly steps!: readonly TraceStepDto[];
}

class UsageLimitsDto {
  @TextProperty(`Least amount, ${MINOR}.`, null, { nullable: true })
  readonly minimum!: string | null;
  @TextProperty(`Greatest amount, ${MINOR}.`, null, { nullable: true })
  readonly maximum!: string | null;
  @NestedProperty(
    TracedProrationDto,
    'Part of the full period that the limits apply to; null: all.',
    {
      nullable: true,
      example: null,
    },
  )
  readonly proration!: TracedProrationDto | null;
}

class RatedTraceDto {
  @EnumProperty(['rated'], 'A quantity at a price.', 'rated') readonly kind!: 'rated';
  @NestedProperty(TracedPriceDto, 'The price as it was.') readonly price!: TracedPriceDto;
  @TextProperty('Exact quantity.', '5') readonly quantity!: string;
  @NestedListProperty(TraceStepDto, 'Steps whose sum is the exact amount of the full period.')
  readonly steps!: readonly TraceStepDto[];
  @NestedProperty(TracedProrationDto, 'Part of the full period that is billed; null: all of it.', {
    nullable: true,
    example: null,
  })
  readonly proration!: TracedProrationDto | null;
}

class UsageTraceDto {
  @EnumProperty(['usage'], 'Usage that a meter counted.', 'usage') readonly kind!: 'usage';
  @NestedProperty(TracedPriceDto, 'The price as it was.') readonly price!: TracedPriceDto;
  @NestedProperty(TracedMeterDto, 'The meter as it was.') readonly meter!: TracedMeterDto;
  @BooleanProperty('True if each group is priced separately.', false)
  readonly is_by_group!: boolean;
  @NestedProperty(TracedPeriodDto, 'Period whose usage is billed.')
  readonly period!: TracedPeriodDto;
  @InstantProperty('Start of the counted events; before the period if values carry over into it.')
  readonly counted_from!: string;
  @TextProperty('Events of the customer were counted up to this position.', '42')
  readonly up_to_position!: string;
  @NestedListProperty(TracedPartDto, 'One part per group, or one for all.')
  readonly parts!: readonly TracedPartDto[];
  @NestedProperty(UsageLimitsDto, 'Minimum and maximum of the price.')
  readonly limits!: UsageLimitsDto;
  @NestedProperty(
    TracedProrationDto,
    'Part of the period for a fee due for a quantity of 0 or less; null: all.',
    {
      ...OPTIONAL_OR_NULL,
      example: null,
    },
  )
  readonly zero_usage_proration?: TracedProrationDto | null;
  @NestedProperty(CorrectedUsageDto, 'Earlier bill of the period, for late usage.', {
    nullable: true,
    example: null,
  })
  readonly corrects!: CorrectedUsageDto | null;
}

class CreditTraceDto {
  @EnumProperty(['credit'], 'Credit for the unused part of a line.', 'credit')
  readonly kind!: 'credit';
  @TextProperty(
    `Amount of the credited line divided by the billed part of its period, ${MINOR}, or a ratio such as \`2201/22\` where no decimal is exact.`,
    '3100',
  )
  readonly full_amount!: string;
  @NestedProperty(TracedProrationDto, 'Billed part of a full period; null: all of it.', {
    nullable: true,
    example: null,
  })
  readonly billed_proration!: TracedProrationDto | null;
  @TextProperty(`Amount of the credited line, ${MINOR}.`, '3100') readonly billed!: string;
  @TextProperty(`Discount of the credited line, ${MINOR}.`, '0') readonly discount!: string;
  @TextProperty(`Amount of the line that was credited before, ${MINOR}.`, '0')
  readonly credited!: string;
  @NestedProperty(TracedProrationDto, 'Part of the full period that is unused.')
  readonly unused!: TracedProrationDto;
  @NestedProperty(HeldTermsDto, 'Amounts left on the credited line.', OPTIONAL)
  readonly held?: HeldTermsDto;
  @TextProperty(`Limit of the credit, ${MINOR}.`, '1500', OPTIONAL) readonly most?: string;
  @NestedListProperty(HeldDiscountDto, 'Discounts that returned to their coupons.', OPTIONAL)
  readonly returned?: readonly HeldDiscountDto[];
}

class TrueUpTraceDto {
  @EnumProperty(['true_up'], 'Lifts to a minimum, or lowers to a maximum.', 'true_up')
  readonly kind!: 'true_up';
  @TextProperty(`Billed without the limit, ${MINOR}.`, '400') readonly billed!: string;
  @TextProperty(`Least amount, ${MINOR}.`, '500', { nullable: true })
  readonly minimum!: string | null;
  @TextProperty(`Greatest amount, ${MINOR}.`, null, { nullable: true })
  readonly maximum!: string | null;
  @NestedProperty(TracedProrationDto, 'Part of the full period that the limit is for; null: all.', {
    nullable: true,
    example: null,
  })
  readonly proration!: TracedProrationDto | null;
}

class FixedTraceDto {
  @EnumProperty(['fixed'], 'An amount that was entered.', 'fixed') readonly kind!: 'fixed';
  @TextProperty(`The amount, ${MINOR}.`, '4500') readonly amount!: string;
}

export const LINE_TRACES = [
  RatedTraceDto,
  UsageTraceDto,
  CreditTraceDto,
  TrueUpTraceDto,
  FixedTraceDto,
];
export type LineTraceDto =
  RatedTraceDto | UsageTraceDto | CreditTraceDto | TrueUpTraceDto | FixedTraceDto;

export function toLineTraceDto(trace: LineTrace): LineTraceDto {
  return plain(toJson(trace)) as LineTraceDto;
}

/** Converts stored JSON to the form of the API: bigints and instants as plain text, names in snake case. */
function plain(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(plain);
  if (typeof json !== 'object' || json === null) return json;
  const entries = Object.entries(json);
  const [first] = entries;
  if (entries.length === 1 && first?.[0].startsWith('$') === true) return first[1];
  return Object.fromEntries(entries.map(([key, part]) => [wireNameOf(key), plain(part)]));
}

function wireNameOf(name: string): string {
  // The same object may have a property `held`, so the amount cannot have this name.
  if (name === 'heldMinor') return 'held_amount';
  return name
    .replace(/Minor$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase();
}
