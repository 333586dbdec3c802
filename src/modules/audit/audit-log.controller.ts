import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { tooManyReports } from '../../platform/errors';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  sendLines,
  toOpaquePageRequest,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { AuditLogService } from './audit-log.service';
import { AuditUsageCounts } from './audit-usage-counts';
import { AuditVerificationService } from './audit-verification.service';
import { auditEntryNotFound } from './audit.errors';
import {
  AuditEntryDto,
  AuditExportLineDto,
  ExportAuditLogDto,
  ListAuditEntriesDto,
  toAuditEntryDto,
  toAuditExportLineDto,
  toAuditFilter,
  toExportStart,
} from './dto/audit-entry.dto';
import { AuditUsageCountDto, toAuditUsageCountDto } from './dto/audit-usage-count.dto';
import { AuditVerificationDto, toAuditVerificationDto } from './dto/audit-verification.dto';

@ApiTags('Audit log')
@Controller('v1/audit-log')
export class AuditLogController {
  constructor(
    private readonly log: AuditLogService,
    private readonly verification: AuditVerificationService,
    private readonly usage: AuditUsageCounts,
  ) {}

  @Get()
  @Operation({
    summary: 'List the audit log',
    description:
      'Newest first. Each entry is one operation that changed something. Requests that were refused, rolled back or replayed have no entry. Reported usage and consumption are counted instead.',
    access: 'audit:read',
    answer: pageOf(AuditEntryDto),
  })
  async listAuditEntries(@Query() query: ListAuditEntriesDto): Promise<PageDto<AuditEntryDto>> {
    const page = await this.log.list(toAuditFilter(query), toPageRequest(query, 'aud'));
    return toPageDto(page, toAuditEntryDto);
  }

  @Get('export')
  @Operation({
    summary: 'Export the audit log',
    description:
      'Every matching change, oldest first, as newline-delimited JSON. Changes committed later follow in an export `after` the last `position`. If an export fails, the answer is cut off, which HTTP clients report as incomplete.',
    access: 'audit:read',
    lines: [AuditExportLineDto],
  })
  async exportAuditLog(
    @Query() query: ExportAuditLogDto,
    @Res() response: Response,
  ): Promise<void> {
    await sendLines(response, toLines(this.log.export(toAuditFilter(query), toExportStart(query))));
  }

  @Get('verify')
  @Operation({
    summary: 'Verify the audit log',
    description:
      'Compares the whole audit log with its seals. Reveals rows that were changed, removed or added directly in the database.',
    access: 'audit:read',
    answer: AuditVerificationDto,
    problems: [tooManyReports],
  })
  async verifyAuditLog(): Promise<AuditVerificationDto> {
    return toAuditVerificationDto(await this.verification.verify());
  }

  @Get('usage-counts')
  @Operation({
    summary: 'List the counts of usage requests',
    description: 'By caller and hour, newest first. Each process adds its counts every 10 seconds.',
    access: 'audit:read',
    answer: pageOf(AuditUsageCountDto),
  })
  async listAuditUsageCounts(@Query() query: ListQueryDto): Promise<PageDto<AuditUsageCountDto>> {
    return toPageDto(await this.usage.list(toOpaquePageRequest(query)), toAuditUsageCountDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read an entry of the audit log',
    description: 'Returns one operation with its first 100 changes.',
    access: 'audit:read',
    answer: AuditEntryDto,
    problems: [auditEntryNotFound],
  })
  async getAuditEntry(
    @Param('id', new IdPipe('aud', auditEntryNotFound)) id: string,
  ): Promise<AuditEntryDto> {
    return toAuditEntryDto(await this.log.get(id));
  }
}

async function* toLines(
  changes: ReturnType<AuditLogService['export']>,
): AsyncGenerator<AuditExportLineDto | null> {
  for await (const change of changes) yield change === null ? null : toAuditExportLineDto(change);
}
