import { Controller, Post, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiExtraModels, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Request } from 'express';
import {
  Caller,
  identifyWhileSending,
  type Principal,
  principalOf,
  requireScope,
} from '../../platform/access';
import { Configuration } from '../../platform/config';
import { outcomeUnknown } from '../../platform/errors';
import { Operation, sharingCaller } from '../../platform/http';
import { Lifecycle } from '../../platform/observability';
import { AppendResultDto, toAppendResultDto } from './dto/append-result.dto';
import { readUsageRequest, type UsageReport } from './dto/read-usage-request';
import { UsageBatchDto, UsageEventReportDto } from './dto/usage-event.dto';
import { type ReportResult, UsageEventsService } from './usage-events.service';
import { NDJSON, USAGE_EVENTS_PATH } from './usage-route';
import { usageEventRejected } from './usage.errors';

const ACCESS = 'usage:write';

@ApiTags('Usage')
@ApiExtraModels(UsageEventReportDto, UsageBatchDto)
@Controller(USAGE_EVENTS_PATH)
export class UsageEventsController {
  constructor(
    private readonly usage: UsageEventsService,
    private readonly configuration: Configuration,
    private readonly lifecycle: Lifecycle,
  ) {}

  @Post()
  @Operation({
    summary: 'Report usage',
    description:
      'The body is one event, a list of up to 1,000 as `{ "events": [...] }`, or up to 100,000 lines of NDJSON, optionally ' +
      'compressed with gzip or deflate. Each event is stored and counted in one commit. NDJSON is one commit as a whole: if ' +
      'it breaks off, pauses for 30 s, or is incomplete when the service stops, nothing is stored. A list may be more than ' +
      'one commit: if it fails, a part may be stored. A single event that is rejected is refused with 422; in a list it is ' +
      'in `rejected`, and the rest is stored. Events of a name that no meter counts are stored, with a warning. Every event ' +
      'has its own idempotency key, forever, so the same request can be sent again: stored events count as `duplicates`. ' +
      'The header `Idempotency-Key` is ignored.',
    access: ACCESS,
    answer: AppendResultDto,
    reads: 'raw',
    problems: [outcomeUnknown, usageEventRejected],
  })
  @ApiConsumes('application/json', NDJSON)
  @ApiBody({
    schema: {
      oneOf: [{ $ref: getSchemaPath(UsageEventReportDto) }, { $ref: getSchemaPath(UsageBatchDto) }],
    },
  })
  async reportUsage(
    @Req() request: Request,
    @Caller() caller: Principal,
  ): Promise<AppendResultDto> {
    const { ndjsonIdleTimeoutMs: longestPauseMs } = this.configuration;
    const { bodyDeadline: stopping } = this.lifecycle;
    const report = readUsageRequest(request, { longestPauseMs, stopping });
    return toAppendResultDto(await this.store(report, request, caller));
  }

  private store(report: UsageReport, request: Request, caller: Principal): Promise<ReportResult> {
    switch (report.kind) {
      case 'event':
        return this.usage.report(report.event);
      case 'batch':
        return this.usage.reportAll(report.items);
      case 'stream':
        return this.usage.reportStream(report.pieces, {
          id: sharingCaller(caller),
          requireAccess: async () => {
            await identifyWhileSending(request);
            requireScope(principalOf(request), ACCESS);
          },
        });
    }
  }
}
