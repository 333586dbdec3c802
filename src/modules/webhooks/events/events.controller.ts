import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
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

@ApiTags('Events')
@Controller('v1/events')
export class EventsController {
  constructor(private readonly events: EventLog) {}

  @Get()
  @Operation({
    summary: 'List events',
    description:
      'Newest first; with `from` or `to`, by the time they occurred. Every event was recorded in the commit of the change it reports.',
    access: 'events:read',
    answer: pageOf(EventDto),
    reads: 'list',
  })
  async listEvents(@Query() query: ListEventsDto): Promise<PageDto<EventDto>> {
    const page = await this.events.page(toEventFilter(query), toPageRequest(query, 'evt'));
    return toPageDto(page, toEventDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read an event',
    description: 'Returns the event as webhook endpoints receive it.',
    access: 'events:read',
    answer: EventDto,
    reads: 'path',
    problems: [eventNotFound],
  })
  async getEvent(@Param('id', new IdPipe('evt', eventNotFound)) id: string): Promise<EventDto> {
    const event = (await this.events.find([id])).get(id);
    if (event === undefined) throw eventNotFound(id);
    return toEventDto(event);
  }
}
