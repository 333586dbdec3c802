import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toOpaquePageRequest,
  toPageDto,
} from '../../platform/http';
import { ArchivedUsage } from './archive/archived-usage';
import {
  ArchivedMonthDto,
  ListArchivedMonthsDto,
  toArchivedMonthDto,
  toUsageArchiveFileDto,
  UsageArchiveFileDto,
} from './dto/usage-archive.dto';

@ApiTags('Usage')
@Controller('v1/usage-archive')
export class UsageArchiveController {
  constructor(private readonly archivedUsage: ArchivedUsage) {}

  @Get('files')
  @Operation({
    summary: 'List the files of archived usage events',
    description:
      'The newest month first. Files are in the directory `USAGE_ARCHIVE_DIRECTORY`: NDJSON, compressed with gzip, each with a ' +
      'manifest beside it. Ignore files that are not listed: a failed attempt left them, and their events are in listed files or ' +
      'still in the database. If a month of several files fails, its files are no longer listed.',
    access: 'usage:read',
    answer: pageOf(UsageArchiveFileDto),
  })
  async listUsageArchiveFiles(@Query() query: ListQueryDto): Promise<PageDto<UsageArchiveFileDto>> {
    return toPageDto(
      await this.archivedUsage.listFiles(toOpaquePageRequest(query)),
      toUsageArchiveFileDto,
    );
  }

  @Get('months')
  @Operation({
    summary: 'List the archived months of a customer',
    description:
      'The newest month first, with the number of events by event name, their digest and their files.',
    access: 'usage:read',
    answer: pageOf(ArchivedMonthDto),
  })
  async listArchivedUsageMonths(
    @Query() query: ListArchivedMonthsDto,
  ): Promise<PageDto<ArchivedMonthDto>> {
    const { customer_id: customerId, event_name: eventName = null } = query;
    const page = await this.archivedUsage.listMonths(
      customerId,
      eventName,
      toOpaquePageRequest(query),
    );
    return toPageDto(page, toArchivedMonthDto);
  }
}
