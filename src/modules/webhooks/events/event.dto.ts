import {
  ActorProperty,
  IdProperty,
  InstantField,
  InstantProperty,
  IntegerProperty,
  ListQueryDto,
  MapProperty,
  NestedProperty,
  PatternField,
  ReferenceFilter,
  TextProperty,
  toDto,
  toInstantRange,
} from '../../../platform/http';
import type { RecordedEvent } from '../../../platform/outbox';
import type { EventListFilter } from './events.service';

class EventDataDto {
  @MapProperty('The resource as the API showed it right after the change.', {
    id: 'coup_01h455vb4pex5vsknk084sn02q',
    is_active: false,
  })
  readonly object!: object;
  @MapProperty('Previous values of the changed fields; empty for a new resource.', {
    is_active: true,
  })
  readonly previous!: object;
}

/** An event in a response, and the body of a notification. */
export class EventDto {
  @IdProperty('evt_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;
  @TextProperty('Event type.', 'coupon.updated')
  readonly type!: string;
  @InstantProperty('When it happened.')
  readonly timestamp!: string;
  @IntegerProperty(
    'Number of the event among the events of the same object, from 1. Reveals gaps.',
    3,
  )
  readonly sequence!: number;
  @IntegerProperty('Sequence of the previous event of the same object; null for the first.', 2, {
    nullable: true,
  })
  readonly previous_sequence!: number | null;
  @ActorProperty('Who caused it', { nullable: true })
  readonly actor!: string | null;
  @NestedProperty(
    EventDataDto,
    'The resource after the change, and the previous values. Null if they are missing or damaged in the database; such an event is not sent.',
    { nullable: true },
  )
  readonly data!: EventDataDto | null;
  @TextProperty('Id of the resource; only present if `data` is null.', undefined, {
    optional: true,
  })
  readonly object_id?: string;
}

export function toEventDto({ objectId, data, ...event }: RecordedEvent): EventDto {
  return toDto(EventDto, {
    ...event,
    ...(data === null && { objectId }),
    timestamp: event.occurredAt,
    previousSequence: event.sequence === 1 ? null : event.sequence - 1,
    data: data === null ? null : (JSON.parse(data) as EventDataDto),
  });
}

export class ListEventsDto extends ListQueryDto {
  @PatternField(
    /^[a-z][a-z0-9_]{0,39}\.(\*|[a-z][a-z0-9_]{0,39})$/,
    'must be a type such as refund.succeeded, or refund.*',
    'An event type, or all events of a resource: `refund.*`.',
    { optional: true },
  )
  readonly type?: string;
  @ReferenceFilter('Only the events of this resource.')
  readonly object_id?: string;
  @ReferenceFilter('Only events about this customer and about objects with this `customer_id`.')
  readonly customer_id?: string;
  @ReferenceFilter('Only events about customers on this test clock, and about their objects.')
  readonly test_clock_id?: string;
  @ReferenceFilter(
    'Only events that this actor caused: the id of an API key or an admin, or `worker`.',
  )
  readonly actor?: string;
  @InstantField('Start, inclusive.', { optional: true })
  readonly from?: string;
  @InstantField('End, exclusive.', { optional: true })
  readonly to?: string;
}

/** @param hidden resources, such as `api_key`, whose events are left out */
export function toEventFilter(dto: ListEventsDto, hidden: readonly string[]): EventListFilter {
  return {
    hiddenResources: hidden,
    type: dto.type ?? null,
    objectId: dto.object_id ?? null,
    customerIds: dto.customer_id === undefined ? null : [dto.customer_id],
    testClockId: dto.test_clock_id ?? null,
    actor: dto.actor ?? null,
    ...toInstantRange(dto.from, dto.to),
  };
}
