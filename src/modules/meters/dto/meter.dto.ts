import { ApiProperty } from '@nestjs/swagger';
import { type Aggregation, AGGREGATIONS } from '../../../core/usage';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireInstant,
} from '../../../platform/http';
import {
  LATE_EVENTS,
  type LateEvents,
  type Meter,
  METER_STATUSES,
  type MeterStatus,
} from '../domain/meter';

class MeterFilterDto {
  @ApiProperty({ description: 'A property of the event.', example: 'region' })
  readonly property!: string;

  @ApiProperty({ type: [String], description: 'The texts that fit.', example: ['eu', 'us'] })
  readonly in!: readonly string[];
}

class MeterBackfillDto {
  @ApiProperty({
    type: 'integer',
    description: 'Events stored before the meter that have been counted.',
    example: 250_000,
  })
  readonly counted_events!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Events stored before the meter: an upper bound, 0 until the first step.',
    example: 1_000_000,
  })
  readonly total_events!: number;
}

export class MeterDto {
  @IdProperty('meter_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'What a program asks for; unique.', example: 'api_calls' })
  readonly key!: string;

  @ApiProperty({ description: 'For people.', example: 'API calls' })
  readonly name!: string;

  @ApiProperty({ description: 'The name of the events it counts.', example: 'api_call' })
  readonly event_name!: string;

  @ApiProperty({ enum: AGGREGATIONS, description: 'How events become a number.', example: 'sum' })
  readonly aggregation!: Aggregation;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The property it reads; null for `count`.',
    example: 'tokens',
  })
  readonly value_property!: string | null;

  @ApiProperty({ type: [MeterFilterDto], description: 'Events count that fit all of them.' })
  readonly filters!: readonly MeterFilterDto[];

  @ApiProperty({
    type: [String],
    description: 'Properties by which usage is told apart.',
    example: ['model'],
  })
  readonly group_by!: readonly string[];

  @ApiProperty({
    enum: LATE_EVENTS,
    description: 'What becomes of an event of a period that was billed.',
    example: 'next_invoice',
  })
  readonly late_events!: LateEvents;

  @ApiProperty({
    description: 'Whether what a `weighted_sum` holds is carried into the next period.',
    example: false,
  })
  readonly is_recurring!: boolean;

  @ApiProperty({
    enum: METER_STATUSES,
    description:
      'A meter is `backfilling` while events stored before it are counted in the background. Until it is `active`, ' +
      'its usage cannot be read and nothing can refer to it.',
    example: 'active',
  })
  readonly status!: MeterStatus;

  @ApiProperty({
    type: MeterBackfillDto,
    nullable: true,
    description: 'Progress of the backfill; null once the meter is active.',
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
  return {
    id: meter.id,
    key: meter.key,
    name: meter.name,
    event_name: meter.eventName,
    aggregation: meter.aggregation,
    value_property: meter.valueProperty,
    filters: meter.filters.map((filter) => ({ property: filter.property, in: filter.in })),
    group_by: meter.groupBy,
    late_events: meter.lateEvents,
    is_recurring: meter.isRecurring,
    status: meter.status,
    backfill:
      meter.status === 'active'
        ? null
        : { counted_events: meter.backfillCounted, total_events: meter.backfillTotal },
    metadata: meter.metadata,
    archived_at: toWireInstant(meter.archivedAt),
    created_at: toWireInstant(meter.createdAt),
    updated_at: toWireInstant(meter.updatedAt),
  };
}
