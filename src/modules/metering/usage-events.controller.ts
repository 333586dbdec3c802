import { Controller, Post, Req } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Request } from 'express';
import { Operation } from '../../platform/http';
import { AppendResultDto, toAppendResultDto } from './dto/append-result.dto';
import { readUsageRequest } from './dto/read-usage-request';
import { UsageBatchDto, UsageEventReportDto } from './dto/usage-event.dto';
import { UsageEventsService } from './usage-events.service';
import { USAGE_EVENTS_PATH } from './usage-route';

@ApiTags('Usage')
@ApiExtraModels(UsageEventReportDto, UsageBatchDto)
@Controller(USAGE_EVENTS_PATH)
export class UsageEventsController {
  constructor(private readonly usage: UsageEventsService) {}

  @Post()
  @Operation({
    summary: 'Report usage',
    description:
      'One event, or up to 1,000 as `{ "events": [...] }`. Stored and counted in one commit. In a list, an event that ' +
      'cannot be taken is in `rejected`, and the rest is stored. Every event has its own idempotency key, for ever, so ' +
      'that a request can be sent again as it is: what was stored counts as `duplicates`. No `Idempotency-Key` is read.',
    status: 200,
    answer: AppendResultDto,
    reads: 'body',
  })
  @ApiBody({
    schema: {
      oneOf: [{ $ref: getSchemaPath(UsageEventReportDto) }, { $ref: getSchemaPath(UsageBatchDto) }],
    },
  })
  async reportUsage(@Req() request: Request): Promise<AppendResultDto> {
    const report = readUsageRequest(request);
    const result =
      report.kind === 'event'
        ? await this.usage.report(report.event)
        : await this.usage.reportAll(report.items);
    return toAppendResultDto(result);
  }
}
