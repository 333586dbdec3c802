import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { hiddenResources, mayReadEvents } from '../../../core/access';
import { Caller, type Principal } from '../../../platform/access';
import {
  IdPipe,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../../platform/http';
import { EventLog } from '../../../platform/outbox';
import { eventNotFound } from '../webhooks.errors';
import { EventDto, ListEventsDto, toEventDto, toEventFilter } from './event.dto';
import { EventsService } from './events.service';

@ApiTags('Events')
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly events: EventLog,
    private readonly lists: EventsService,
  ) {}

  @Get()
  @Operation({
    summary: 'List events',
    description:
      'Newest first; with `from` or `to`, by the time they occurred. Every event was recorded in the commit of the change it reports. ' +
      'Events of API keys are listed only with `keys:read`, those of admins and sessions only with `studio:read`. ' +
      'Events are deleted after `EVENT_RETENTION_MONTHS`, where that is set.',
    access: 'events:read',
    answer: pageOf(EventDto),
  })
  async listEvents(
    @Query() query: ListEventsDto,
    @Caller() { scopes }: Principal,
  ): Promise<PageDto<EventDto>> {
    const filter = toEventFilter(query, hiddenResources(scopes));
    const page = await this.lists.list(filter, toPageRequest(query, 'evt'));
    return toPageDto(page, toEventDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read an event',
    description: 'Returns the event as webhook endpoints receive it.',
    access: 'events:read',
    answer: EventDto,
    problems: [eventNotFound],
  })
  async getEvent(
    @Param('id', new IdPipe('evt', eventNotFound)) id: string,
    @Caller() { scopes }: Principal,
  ): Promise<EventDto> {
    const event = (await this.events.find([id])).get(id);
    if (event === undefined || !mayReadEvents(event.type, scopes)) {
      throw eventNotFound(id);
    }
    return toEventDto(event);
  }
}
