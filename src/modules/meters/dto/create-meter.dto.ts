import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  Matches,
  ValidateNested,
} from 'class-validator';
import { type Aggregation, AGGREGATIONS } from '../../../core/usage';
import { HasNoRepeats, IsText, MetadataField, Nullable, Omittable } from '../../../platform/http';
import { LATE_EVENTS, type LateEvents, type MeterTerms } from '../domain/meter';

export const LONGEST_NAME = 200;
const LONGEST_EVENT_NAME = 100;
const LONGEST_PROPERTY = 100;
const LONGEST_TEXT = 200;
const MOST_FILTERS = 10;
const MOST_TEXTS = 100;
const MOST_GROUP_PROPERTIES = 5;

class MeterFilterInputDto {
  @IsText(1, LONGEST_PROPERTY)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_PROPERTY,
    description: 'A property of the event.',
    example: 'region',
  })
  readonly property!: string;

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_TEXTS)
  @HasNoRepeats()
  @IsText(0, LONGEST_TEXT, { each: true })
  @ApiProperty({
    type: [String],
    minItems: 1,
    maxItems: MOST_TEXTS,
    description: 'An event counts only where the property, as text, is one of these.',
    example: ['eu', 'us'],
  })
  readonly in!: readonly string[];
}

export class CreateMeterDto {
  @Matches(/^[a-z][a-z0-9_.-]{0,63}$/, {
    message: 'must be 1 to 64 of a-z, 0-9, _, . and -, the first a letter',
  })
  @ApiProperty({
    description: 'What a program asks for, 1 to 64 of a-z, 0-9, _, . and -; unique.',
    example: 'api_calls',
  })
  readonly key!: string;

  @Omittable()
  @IsText(1, LONGEST_NAME)
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For people; left out: the key.',
    example: 'API calls',
  })
  readonly name?: string;

  @IsText(1, LONGEST_EVENT_NAME)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_EVENT_NAME,
    description: 'The `event_name` of the events it counts.',
    example: 'api_call',
  })
  readonly event_name!: string;

  @IsIn(AGGREGATIONS)
  @ApiProperty({
    enum: AGGREGATIONS,
    description:
      '`count` of events; `sum`, `max`, `latest` of a number; `unique` values; `weighted_sum`: value x time held / time of the period.',
    example: 'sum',
  })
  readonly aggregation!: Aggregation;

  @Nullable()
  @IsText(1, LONGEST_PROPERTY)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: LONGEST_PROPERTY,
    nullable: true,
    description:
      'The property it reads; required but for `count`. An event without one does not count. Where a number is read, it is ' +
      'one of JSON, or text such as "-12.5" of at most 20 digits before the point and 18 after it.',
    example: 'tokens',
  })
  readonly value_property?: string | null;

  @Omittable()
  @IsArray()
  @ArrayMaxSize(MOST_FILTERS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => MeterFilterInputDto)
  @ApiPropertyOptional({
    type: [MeterFilterInputDto],
    maxItems: MOST_FILTERS,
    description: 'Which events count: those that fit all of them.',
  })
  readonly filters?: readonly MeterFilterInputDto[];

  @Omittable()
  @IsArray()
  @ArrayMaxSize(MOST_GROUP_PROPERTIES)
  @HasNoRepeats()
  @IsText(1, LONGEST_PROPERTY, { each: true })
  @Matches(/^[^,]*$/, { each: true, message: 'must not hold a comma' })
  @ApiPropertyOptional({
    type: [String],
    maxItems: MOST_GROUP_PROPERTIES,
    description:
      'Properties by which usage is told apart. None may hold a comma, which parts them where usage is read.',
    example: ['model'],
  })
  readonly group_by?: readonly string[];

  @Omittable()
  @IsIn(LATE_EVENTS)
  @ApiPropertyOptional({
    enum: LATE_EVENTS,
    default: 'next_invoice',
    description:
      'What becomes of an event of a period that was billed: the difference goes on the next invoice, or it is rejected.',
  })
  readonly late_events?: LateEvents;

  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({
    default: false,
    description:
      'Whether what a `weighted_sum` holds at the end of a period is carried into the next. Within a billing period it is ' +
      'held on in any case, also over a change of the plan or a pause, which part it.',
  })
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
