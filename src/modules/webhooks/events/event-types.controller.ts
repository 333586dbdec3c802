import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  exampleOf,
  MapProperty,
  NestedListProperty,
  Operation,
  TextProperty,
} from '../../../platform/http';
import { allEvents, exampleEvent } from '../../../platform/outbox';

class EventTypeDto {
  @TextProperty('Name of the event type, as used by endpoints.', 'refund.succeeded')
  readonly type!: string;
  @TextProperty('When the event is recorded.', 'The money was given back.')
  readonly description!: string;
  @MapProperty('The body of a notification.', {
    id: 'evt_01h455vb4pex5vsknk084sn02q',
    type: 'refund.succeeded',
  })
  readonly example!: object;
}

class EventTypesDto {
  @NestedListProperty(EventTypeDto, 'All event types, in alphabetical order.')
  readonly data!: readonly EventTypeDto[];
}

@ApiTags('Webhooks')
@Controller('v1/webhooks/event-types')
export class EventTypesController {
  @Get()
  @Operation({
    summary: 'List event types',
    description: 'Returns all event types, with an example of each.',
    access: 'webhooks:read',
    answer: EventTypesDto,
  })
  listEventTypes(): EventTypesDto {
    return {
      data: allEvents().map((event) => ({
        type: event.type,
        description: event.meaning,
        example: exampleEvent(event, exampleOf(event.dto)),
      })),
    };
  }
}
