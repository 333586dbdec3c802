import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import {
  ActorProperty,
  IdProperty,
  InstantProperty,
  IsInstant,
  IsText,
  ListQueryDto,
  Omittable,
  toWireInstant,
} from '../../../platform/http';
import type { EventFilter, RecordedEvent } from '../../../platform/outbox';

class EventDataDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'The resource as the API showed it right after the change.',
    example: { id: 'coup_01h455vb4pex5vsknk084sn02q', is_active: false },
  })
  readonly object!: object;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Previous values of the changed fields; empty for a new resource.',
    example: { is_active: true },
  })
  readonly previous!: object;
}

/** An event; also the body of its notifications. */
export class EventDto {
  @IdProperty('evt_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Event type.', example: 'coupon.updated' })
  readonly type!: string;

  @InstantProperty('When it happened.')
  readonly timestamp!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Number of the event among the events of the same object, from 1. Reveals gaps.',
    example: 3,
  })
  readonly sequence!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Sequence of the previous event of the same object; null for the first.',
    example: 2,
  })
  readonly previous_sequence!: number | null;

  @ActorProperty('Who caused it', { nullable: true })
  readonly actor!: string | null;

  @ApiProperty({
    type: EventDataDto,
    description: 'The resource after the change, and the previous values.',
  })
  readonly data!: EventDataDto;
}

export function toEventDto(event: RecordedEvent): EventDto {
  return {
    id: event.id,
    type: event.type,
    timestamp: toWireInstant(event.occurredAt),
    sequence: event.sequence,
    previous_sequence: event.sequence === 1 ? null : event.sequence - 1,
    actor: event.actor,
    data: JSON.parse(event.data) as EventDataDto,
  };
}

export class ListEventsDto extends ListQueryDto {
  @Omittable()
  @Matches(/^[a-z][a-z0-9_]{0,39}\.(\*|[a-z][a-z0-9_]{0,39})$/, {
    message: 'must be a type such as refund.succeeded, or refund.*',
  })
  @ApiPropertyOptional({ description: 'An event type, or all events of a resource: `refund.*`.' })
  readonly type?: string;

  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only the events of this resource.' })
  readonly object_id?: string;

  @Omittable()
  @IsInstant()
  @ApiPropertyOptional({ format: 'date-time', description: 'First instant, inclusive.' })
  readonly from?: string;

  @Omittable()
  @IsInstant()
  @ApiPropertyOptional({ format: 'date-time', description: 'Last instant, exclusive.' })
  readonly to?: string;
}

export function toEventFilter(dto: ListEventsDto): EventFilter {
  return {
    type: dto.type ?? null,
    objectId: dto.object_id ?? null,
    from: dto.from === undefined ? null : new Date(dto.from),
    to: dto.to === undefined ? null : new Date(dto.to),
  };
}
