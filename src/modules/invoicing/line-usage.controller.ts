import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidCursor } from '../../platform/errors';
import {
  IdPipe,
  ListQueryDto,
  NestedListProperty,
  Operation,
  pageOf,
  toOpaquePageRequest,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import {
  ArchivedMonthDto,
  StoredUsageEventDto,
  toArchivedMonthDto,
  toStoredUsageEventDto,
} from '../metering';
import { ExplanationDto, toExplanationDto } from './dto/explanation.dto';
import { InvoiceExplanationDto, toInvoiceExplanationDto } from './dto/invoice-explanation.dto';
import { invoiceLineNotFound, invoiceLineWithoutUsage, invoiceNotFound } from './invoicing.errors';
import { LineUsageService } from './line-usage.service';

class LineEventsPageDto extends pageOf(StoredUsageEventDto) {
  @NestedListProperty(
    ArchivedMonthDto,
    'Archived months with events that the line may have counted as well. Their events are not in `data`.',
  )
  readonly archived!: readonly ArchivedMonthDto[];
}

const invoiceId = new IdPipe('inv', invoiceNotFound);
const lineId = new IdPipe('il', invoiceLineNotFound);

@ApiTags('Invoices')
@Controller('v1/invoices')
export class LineUsageController {
  constructor(private readonly usage: LineUsageService) {}

  @Get(':id/explanation')
  @Operation({
    summary: 'Explain an invoice',
    description:
      'Returns how each line, and the totals of the invoice, were calculated. The functions that made the invoice ' +
      'calculate everything again. Lines come in pages, in the order of the invoice; each page has all totals. A draft ' +
      'shows its amounts as last calculated: its finalization calculates usage, coupons, taxes and credit again.',
    access: 'invoices:read',
    answer: InvoiceExplanationDto,
    problems: [invoiceNotFound, invalidCursor],
  })
  async explainInvoice(
    @Param('id', invoiceId) id: string,
    @Query() query: ListQueryDto,
  ): Promise<InvoiceExplanationDto> {
    const page = toPageRequest(query, 'il');
    return toInvoiceExplanationDto(await this.usage.explainInvoice(id, page));
  }

  @Get(':id/lines/:line_id/explanation')
  @Operation({
    summary: 'Explain a line',
    description:
      'The price as it was, the tiers, the quantity, the part of the period and the shares of coupons and tax, ' +
      'evaluated again by the functions that made the line.',
    access: 'invoices:read',
    answer: ExplanationDto,
    problems: [invoiceNotFound, invoiceLineNotFound],
  })
  async explainInvoiceLine(
    @Param('id', invoiceId) id: string,
    @Param('line_id', lineId) line: string,
  ): Promise<ExplanationDto> {
    return toExplanationDto(await this.usage.explainLine(id, line));
  }

  @Get(':id/lines/:line_id/events')
  @Operation({
    summary: 'List the usage events of a line',
    description:
      'Lists exactly the events that make up the quantity of the line, oldest first. Events that were stored or voided after ' +
      'the line was made change nothing. A line for late usage lists all events of its period. For a `weighted_sum`, the list ' +
      'includes events before the period whose values carry over into it. The quantity is the sum of value x (period_end - ' +
      'the later of timestamp and period_start) / (full_period_end - full_period_start); the explanation shows these ' +
      'instants. Events of archived months are not listed: `archived` shows where they are.',
    access: 'invoices:read',
    answer: LineEventsPageDto,
    csvItem: StoredUsageEventDto,
    reads: 'list',
    problems: [invoiceNotFound, invoiceLineNotFound, invoiceLineWithoutUsage],
  })
  async listLineEvents(
    @Param('id', invoiceId) id: string,
    @Param('line_id', lineId) line: string,
    @Query() query: ListQueryDto,
  ): Promise<LineEventsPageDto> {
    const { page, archived } = await this.usage.listEvents(id, line, toOpaquePageRequest(query));
    return {
      ...toPageDto(page, toStoredUsageEventDto),
      archived: archived.map(toArchivedMonthDto),
    };
  }
}
