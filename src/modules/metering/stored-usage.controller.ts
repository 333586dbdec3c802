import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  Operation,
  type PageDto,
  pageOf,
  toOpaquePageRequest,
  toPageDto,
} from '../../platform/http';
import { ListUsageEventsDto, toEventFilter } from './dto/list-usage-events.dto';
import { StoredUsageEventDto, toStoredUsageEventDto } from './dto/stored-usage-event.dto';
import { VoidUsageEventDto } from './dto/void-usage-event.dto';
import { usageEventArchived, usageEventNotFound, usageLateRefused } from './usage.errors';
import { USAGE_EVENTS_PATH } from './usage-route';
import { UsageStore } from './usage-store';

@ApiTags('Usage')
@Controller(USAGE_EVENTS_PATH)
export class StoredUsageController {
  constructor(private readonly usage: UsageStore) {}

  @Get()
  @Operation({
    summary: 'List the usage events of a customer',
    description:
      'Newest timestamp first, voided events included. Archived months are left out: see `GET /v1/usage-archive/months`.',
    access: 'usage:read',
    answer: pageOf(StoredUsageEventDto),
  })
  async listUsageEvents(@Query() query: ListUsageEventsDto): Promise<PageDto<StoredUsageEventDto>> {
    const page = await this.usage.list(toEventFilter(query), toOpaquePageRequest(query));
    return toPageDto(page, toStoredUsageEventDto);
  }

  @Get(':idempotency_key')
  @Operation({
    summary: 'Read a usage event',
    description: 'The path contains the idempotency key of the event, percent-encoded.',
    access: 'usage:read',
    answer: StoredUsageEventDto,
    problems: [usageEventNotFound, usageEventArchived],
  })
  async getUsageEvent(@Param('idempotency_key') key: string): Promise<StoredUsageEventDto> {
    return toStoredUsageEventDto(await this.usage.get(key));
  }

  @Post('void')
  @Operation({
    summary: 'Void a usage event',
    description:
      'The event is kept and marked with `voided_at`, and no longer counts. Its key stays used. In a billed period this is ' +
      'late usage: the next invoice corrects the difference, or the request is refused if a meter rejects late events. ' +
      'Voiding it again is a no-op.',
    access: 'usage:write',
    answer: StoredUsageEventDto,
    key: 'optional',
    problems: [usageEventNotFound, usageEventArchived, usageLateRefused],
  })
  async voidUsageEvent(@Body() body: VoidUsageEventDto): Promise<StoredUsageEventDto> {
    return toStoredUsageEventDto(await this.usage.void(body.idempotency_key));
  }
}
