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
  @TextProperty('Property of the event.', 'region') readonly property!: string;
  @TextListProperty('Values that pass, as text.', ['eu', 'us']) readonly in!: readonly string[];
}

class MeterBackfillDto {
  @IntegerProperty('Earlier stored events counted so far.', 250_000)
  readonly counted_events!: number;
  @IntegerProperty(
    'Upper bound of the earlier events to count; 0 until the backfill starts.',
    1_000_000,
  )
  readonly total_events!: number;
}

export class MeterDto {
  @IdProperty('meter_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Unique key that applications use.', 'api_calls') readonly key!: string;
  @TextProperty('Display name.', 'API calls') readonly name!: string;
  @TextProperty('Name of the events that it counts.', 'api_call') readonly event_name!: string;
  @EnumProperty(AGGREGATIONS, 'How events become a quantity.', 'sum')
  readonly aggregation!: Aggregation;
  @TextProperty('Property that it reads; null for `count`.', 'tokens', { nullable: true })
  readonly value_property!: string | null;
  @NestedListProperty(MeterFilterDto, 'An event counts if it passes all filters.')
  readonly filters!: readonly MeterFilterDto[];
  @TextListProperty('Properties that usage is grouped by.', ['model'])
  readonly group_by!: readonly string[];
  @EnumProperty(LATE_EVENTS, 'Policy for events of a billed period.', 'next_invoice')
  readonly late_events!: LateEvents;
  @BooleanProperty(
    'If true, the value that a `weighted_sum` holds carries over to the next billing period.',
    false,
  )
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
  @InstantProperty(
    'First instant from which all events are counted. Events before it were archived when the meter was created. Null: all ' +
      'events are counted.',
    { nullable: true },
  )
  readonly counted_from!: string | null;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was archived; nothing new can refer to it since.', {
    nullable: true,
    example: null,
  })
  readonly archived_at!: string | null;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export function toMeterDto(meter: Meter): MeterDto {
  return toDto(MeterDto, {
    ...meter,
    countedFrom: meter.countedFromAt,
    filters: meter.filters.map((filter) => ({ property: filter.property, in: filter.in })),
    backfill:
      meter.status === 'active'
        ? null
        : { counted_events: meter.backfillCounted, total_events: meter.backfillTotal },
  });
}
