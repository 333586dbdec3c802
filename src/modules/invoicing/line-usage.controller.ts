import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidCursor } from '../../platform/errors';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toOpaquePageRequest,
  toPageDto,
} from '../../platform/http';
import { StoredUsageEventDto, toStoredUsageEventDto } from '../metering';
import { invoiceLineNotFound, invoiceLineWithoutUsage, invoiceNotFound } from './invoicing.errors';
import { LineUsageService } from './line-usage.service';

const invoiceId = new IdPipe('inv', invoiceNotFound);
const lineId = new IdPipe('il', invoiceLineNotFound);

@ApiTags('Invoices')
@Controller('v1/invoices')
export class LineUsageController {
  constructor(private readonly usage: LineUsageService) {}

  @Get(':id/lines/:line_id/events')
  @Operation({
    summary: 'List the usage events of a line',
    description:
      'Exactly those that make up its quantity, oldest first, as they stood when the line was made: what was stored or ' +
      'taken back later is not counted in. Of a line for late usage, all those of its period. A `weighted_sum` lists ' +
      'the events from before the period whose values it holds as well: its quantity is the sum of value x (period_end - ' +
      'the later of timestamp and period_start) / (full_period_end - full_period_start), of which the explanation has ' +
      'the instants.',
    access: 'invoices:read',
    answer: pageOf(StoredUsageEventDto),
    reads: 'path',
    problems: [invoiceNotFound, invoiceLineNotFound, invoiceLineWithoutUsage, invalidCursor],
  })
  async listLineEvents(
    @Param('id', invoiceId) id: string,
    @Param('line_id', lineId) line: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<StoredUsageEventDto>> {
    const page = await this.usage.listEvents(id, line, toOpaquePageRequest(query));
    return toPageDto(page, toStoredUsageEventDto);
  }
}
