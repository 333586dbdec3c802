import { Matches, NotEquals } from 'class-validator';
import { type Aggregation, AGGREGATIONS } from '../../../core/usage';
import {
  BooleanField,
  EnumField,
  IsText,
  ListField,
  MetadataField,
  NestedListField,
  PatternField,
  TextField,
} from '../../../platform/http';
import { LATE_EVENTS, type LateEvents, type MeterTerms } from '../domain/meter';

export const MAX_NAME_LENGTH = 200;
const MAX_EVENT_NAME_LENGTH = 100;
const MAX_PROPERTY_LENGTH = 100;
const MAX_TEXT_LENGTH = 200;
const MAX_FILTERS = 10;
const MAX_TEXTS = 100;
const MAX_GROUP_PROPERTIES = 5;

function IsEventProperty(options: { readonly each?: true } = {}): PropertyDecorator {
  return NotEquals('__proto__', {
    ...options,
    message: 'must not be __proto__, which events cannot contain',
  });
}

class MeterFilterInputDto {
  @IsEventProperty()
  @TextField('Property of the event.', { max: MAX_PROPERTY_LENGTH, example: 'region' })
  readonly property!: string;
  @ListField(
    { type: 'string', maxLength: MAX_TEXT_LENGTH },
    [IsText(0, MAX_TEXT_LENGTH, { each: true })],
    'An event passes if the property, as text, is one of these.',
    { min: 1, max: MAX_TEXTS, unique: true, example: ['eu', 'us'] },
  )
  readonly in!: readonly string[];
}

export class CreateMeterDto {
  @PatternField(
    /^[a-z][a-z0-9_.-]{0,63}$/,
    'must be 1 to 64 of a-z, 0-9, _, . and -, the first a letter',
    'Unique key that applications use: 1 to 64 characters of a-z, 0-9, _, . and -, the first a letter.',
    { example: 'api_calls' },
  )
  readonly key!: string;
  @TextField('Display name. Default: the key.', {
    max: MAX_NAME_LENGTH,
    optional: true,
    example: 'API calls',
  })
  readonly name?: string;
  @TextField('Name of the events to count.', {
    max: MAX_EVENT_NAME_LENGTH,
    example: 'api_call',
  })
  readonly event_name!: string;
  @EnumField(
    AGGREGATIONS,
    '`count` of events; `sum`, `max` or `latest` of a number; number of `unique` values; `weighted_sum`: sum of value x time held / length of the period.',
    { example: 'sum' },
  )
  readonly aggregation!: Aggregation;
  @IsEventProperty()
  @TextField(
    'Property to read; required except for `count`. An event without it does not count. A number may be a JSON number, or ' +
      'text such as "-12.5" without leading zeros, at most 20 digits before the decimal point and 18 after it.',
    { max: MAX_PROPERTY_LENGTH, nullable: true, example: 'tokens' },
  )
  readonly value_property?: string | null;
  @NestedListField(MeterFilterInputDto, 'An event counts if it passes all filters.', {
    max: MAX_FILTERS,
    optional: true,
  })
  readonly filters?: readonly MeterFilterInputDto[];
  @ListField(
    { type: 'string', minLength: 1, maxLength: MAX_PROPERTY_LENGTH, pattern: '^[^,]*$' },
    [
      IsText(1, MAX_PROPERTY_LENGTH, { each: true }),
      Matches(/^[^,]*$/, { each: true, message: 'must not hold a comma' }),
      IsEventProperty({ each: true }),
    ],
    'Properties that usage is grouped by. None may contain a comma, which separates them in queries.',
    { max: MAX_GROUP_PROPERTIES, unique: true, optional: true, example: ['model'] },
  )
  readonly group_by?: readonly string[];
  @EnumField(
    LATE_EVENTS,
    'Policy for events of a billed period: the next invoice bills the difference, or the event is rejected.',
    { optional: true, default: 'next_invoice' },
  )
  readonly late_events?: LateEvents;
  @BooleanField(
    'If true, the value that a `weighted_sum` holds at the end of a billing period carries over to the next. Within a ' +
      'billing period it is always held, also across a plan change or a pause.',
    { optional: true, default: false },
  )
  readonly is_recurring?: boolean;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toMeterTerms(dto: CreateMeterDto): MeterTerms {
  return {
    key: dto.key,
    name: dto.name ?? dto.key,
    eventName: dto.event_name,
    aggregation: dto.aggregation,
    valueProperty: dto.value_property ?? null,
    filters: (dto.filters ?? []).map((filter) => ({ property: filter.property, in: filter.in })),
    groupBy: dto.group_by ?? [],
    lateEvents: dto.late_events ?? 'next_invoice',
    isRecurring: dto.is_recurring ?? false,
    metadata: dto.metadata ?? {},
  };
}
