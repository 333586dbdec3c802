import { Matches } from 'class-validator';
import { type Aggregation, AGGREGATIONS } from '../../../core/usage';
import {
  BooleanField,
  EnumField,
  HasNoRepeats,
  IsText,
  ListField,
  MetadataField,
  NestedListField,
  PatternField,
  TextField,
} from '../../../platform/http';
import { LATE_EVENTS, type LateEvents, type MeterTerms } from '../domain/meter';

export const LONGEST_NAME = 200;
const LONGEST_EVENT_NAME = 100;
const LONGEST_PROPERTY = 100;
const LONGEST_TEXT = 200;
const MOST_FILTERS = 10;
const MOST_TEXTS = 100;
const MOST_GROUP_PROPERTIES = 5;

class MeterFilterInputDto {
  @TextField('A property of the event.', { most: LONGEST_PROPERTY, example: 'region' })
  readonly property!: string;
  @ListField(
    String,
    [HasNoRepeats(), IsText(0, LONGEST_TEXT, { each: true })],
    'An event counts only where the property, as text, is one of these.',
    { least: 1, most: MOST_TEXTS, example: ['eu', 'us'] },
  )
  readonly in!: readonly string[];
}

export class CreateMeterDto {
  @PatternField(
    /^[a-z][a-z0-9_.-]{0,63}$/,
    'must be 1 to 64 of a-z, 0-9, _, . and -, the first a letter',
    'What a program asks for, 1 to 64 of a-z, 0-9, _, . and -; unique.',
    { example: 'api_calls' },
  )
  readonly key!: string;
  @TextField('For people; left out: the key.', {
    most: LONGEST_NAME,
    optional: true,
    example: 'API calls',
  })
  readonly name?: string;
  @TextField('The `event_name` of the events it counts.', {
    most: LONGEST_EVENT_NAME,
    example: 'api_call',
  })
  readonly event_name!: string;
  @EnumField(
    AGGREGATIONS,
    '`count` of events; `sum`, `max`, `latest` of a number; `unique` values; `weighted_sum`: value x time held / time of the period.',
    { example: 'sum' },
  )
  readonly aggregation!: Aggregation;
  @TextField(
    'The property it reads; required but for `count`. An event without one does not count. Where a number is read, it is ' +
      'one of JSON, or text such as "-12.5" of at most 20 digits before the point and 18 after it.',
    { most: LONGEST_PROPERTY, nullable: true, example: 'tokens' },
  )
  readonly value_property?: string | null;
  @NestedListField(MeterFilterInputDto, 'Which events count: those that fit all of them.', {
    most: MOST_FILTERS,
    optional: true,
  })
  readonly filters?: readonly MeterFilterInputDto[];
  @ListField(
    String,
    [
      HasNoRepeats(),
      IsText(1, LONGEST_PROPERTY, { each: true }),
      Matches(/^[^,]*$/, { each: true, message: 'must not hold a comma' }),
    ],
    'Properties by which usage is told apart. None may hold a comma, which parts them where usage is read.',
    { most: MOST_GROUP_PROPERTIES, optional: true, example: ['model'] },
  )
  readonly group_by?: readonly string[];
  @EnumField(
    LATE_EVENTS,
    'What becomes of an event of a period that was billed: the difference goes on the next invoice, or it is rejected.',
    { optional: true, default: 'next_invoice' },
  )
  readonly late_events?: LateEvents;
  @BooleanField(
    'Whether what a `weighted_sum` holds at the end of a period is carried into the next. Within a billing period it is ' +
      'held on in any case, also over a change of the plan or a pause, which part it.',
    { optional: true, default: false },
  )
  readonly is_recurring?: boolean;
  @MetadataField()
  readonly metadata?: Record<string, unknown>;
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
