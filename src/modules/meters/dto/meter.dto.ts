import { type Aggregation, AGGREGATIONS } from '../../../core/usage';
import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MetadataProperty,
  NestedListProperty,
  NestedProperty,
  TextListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import {
  LATE_EVENTS,
  type LateEvents,
  type Meter,
  METER_STATUSES,
  type MeterStatus,
} from '../domain/meter';

class MeterFilterDto {
  @TextProperty('A property of the event.', 'region')
  readonly property!: string;
  @TextListProperty('The texts that fit.', ['eu', 'us'])
  readonly in!: readonly string[];
}

class MeterBackfillDto {
  @IntegerProperty('Events stored before the meter that have been counted.', 250_000)
  readonly counted_events!: number;
  @IntegerProperty(
    'Events stored before the meter: an upper bound, 0 until the first step.',
    1_000_000,
  )
  readonly total_events!: number;
}

export class MeterDto {
  @IdProperty('meter_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;
  @TextProperty('What a program asks for; unique.', 'api_calls')
  readonly key!: string;
  @TextProperty('For people.', 'API calls')
  readonly name!: string;
  @TextProperty('The name of the events it counts.', 'api_call')
  readonly event_name!: string;
  @EnumProperty(AGGREGATIONS, 'How events become a number.', 'sum')
  readonly aggregation!: Aggregation;
  @TextProperty('The property it reads; null for `count`.', 'tokens', { nullable: true })
  readonly value_property!: string | null;
  @NestedListProperty(MeterFilterDto, 'Events count that fit all of them.')
  readonly filters!: readonly MeterFilterDto[];
  @TextListProperty('Properties by which usage is told apart.', ['model'])
  readonly group_by!: readonly string[];
  @EnumProperty(
    LATE_EVENTS,
    'What becomes of an event of a period that was billed.',
    'next_invoice',
  )
  readonly late_events!: LateEvents;
  @BooleanProperty('Whether what a `weighted_sum` holds is carried into the next period.', false)
  readonly is_recurring!: boolean;
  @EnumProperty(
    METER_STATUSES,
    'A meter is `backfilling` while events stored before it are counted in the background. Until it is `active`, ' +
      'its usage cannot be read and nothing can refer to it.',
    'active',
  )
  readonly status!: MeterStatus;
  @NestedProperty(MeterBackfillDto, 'Progress of the backfill; null once the meter is active.', {
    nullable: true,
    example: null,
  })
  readonly backfill!: MeterBackfillDto | null;
  @MetadataProperty()
  readonly metadata!: object;
  @InstantProperty('When it was archived; nothing new can refer to it since.', { nullable: true })
  readonly archived_at!: string | null;
  @InstantProperty('When it was created.')
  readonly created_at!: string;
  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toMeterDto(meter: Meter): MeterDto {
  return toDto(MeterDto, {
    ...meter,
    filters: meter.filters.map((filter) => ({ property: filter.property, in: filter.in })),
    backfill:
      meter.status === 'active'
        ? null
        : { counted_events: meter.backfillCounted, total_events: meter.backfillTotal },
  });
}
