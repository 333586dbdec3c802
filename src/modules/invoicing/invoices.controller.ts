import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Caller, mayReadCustomer, type Principal } from '../../platform/access';
import type { VersionCondition } from '../../platform/database';
import { metadataTooLarge, referenceNotFound, tooManyReports } from '../../platform/errors';
import {
  IdPipe,
  IfMatch,
  Operation,
  type PageDto,
  pageOf,
  type SummaryDto,
  toSummaryDto,
  sendFile,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../platform/http';
import { customerCurrencyMismatch, ExpandsCustomers, withCustomer } from '../customers';
import { TEST_CLOCK_PROBLEMS } from '../test-clocks';
import { CreateInvoiceDto, toOneOffRequest } from './dto/create-invoice.dto';
import { InvoiceDto, toInvoiceDto } from './dto/invoice.dto';
import {
  InvoiceFilterDto,
  InvoiceSummaryDto,
  ListInvoicesDto,
  toInvoiceFilter,
} from './dto/list-invoices.dto';
import { UpdateInvoiceDto } from './dto/update-invoice.dto';
import type { Invoice } from './domain/invoice';
import { EditInvoiceService } from './edit-invoice.service';
import { InvoiceDraftsService } from './invoice-drafts.service';
import { InvoicesService } from './invoices.service';
import {
  invoiceBillsPeriod,
  invoiceNotDraft,
  invoiceNotFound,
  invoiceTooLarge,
} from './invoicing.errors';
import { PrintInvoiceService } from './print-invoice.service';

const invoiceId = new IdPipe('inv', invoiceNotFound);

@ApiTags('Invoices')
@Controller('v1/invoices')
export class InvoicesController {
  constructor(
    private readonly invoices: InvoicesService,
    private readonly drafts: InvoiceDraftsService,
    private readonly editing: EditInvoiceService,
    private readonly printing: PrintInvoiceService,
  ) {}

  @Post()
  @Operation({
    summary: 'Create a one-off invoice',
    description:
      'Creates a draft with the given lines; finalization calculates taxes and credit again.',
    access: 'invoices:write',
    status: 201,
    answer: InvoiceDto,
    key: 'optional',
    problems: [
      referenceNotFound,
      customerCurrencyMismatch,
      invoiceTooLarge,
      ...TEST_CLOCK_PROBLEMS,
    ],
  })
  async createInvoice(@Body() body: CreateInvoiceDto): Promise<InvoiceDto> {
    return withETag(await this.drafts.create(toOneOffRequest(body)), toInvoiceDto);
  }

  @Get()
  @ExpandsCustomers()
  @Operation({
    summary: 'List invoices',
    description:
      'Newest first, including drafts and void invoices. With a time range, newest first by that time, without invoices that lack it. With a range of totals but no time range, largest total first.',
    access: 'invoices:read',
    customerToken: { query: 'customer_id' },
    answer: pageOf(withCustomer(InvoiceDto)),
  })
  async listInvoices(@Query() query: ListInvoicesDto): Promise<PageDto<InvoiceDto>> {
    const page = await this.invoices.list(toInvoiceFilter(query), toPageRequest(query, 'inv'));
    return toPageDto(page, toInvoiceDto);
  }

  @Get('summary')
  @Operation({
    summary: 'Sum up invoices',
    description:
      'Counts the invoices that match the filters of the list and sums their amounts, by currency.',
    access: 'invoices:read',
    answer: InvoiceSummaryDto,
    problems: [tooManyReports],
  })
  async summarizeInvoices(@Query() query: InvoiceFilterDto): Promise<SummaryDto> {
    return toSummaryDto(await this.invoices.summarize(toInvoiceFilter(query)));
  }

  // Declared before `:id`, which would match `.pdf` as a part of the id.
  @Get(':id.pdf')
  @Operation({
    summary: 'Print an invoice',
    description:
      'A4, with dates in the time zone of the customer. Shows buyer and seller as they were at finalization; ' +
      'a draft shows them as they are now. The bytes stay the same until the invoice changes. A customer token can print one ' +
      'invoice at a time.',
    access: 'invoices:read',
    customerToken: 'answer',
    file: 'application/pdf',
    conditional: true,
    problems: [invoiceNotFound, tooManyReports],
  })
  async printInvoice(
    @Param('id', invoiceId) id: string,
    @Caller() caller: Principal,
    @Res() response: Response,
  ): Promise<void> {
    if (caller.customerId !== null) await this.getReadable(id, caller);
    const { fileName, bytes } = await this.printing.print(id, caller);
    sendFile(response, { mediaType: 'application/pdf', fileName, bytes });
  }

  @Get(':id')
  @Operation({
    summary: 'Read an invoice',
    description: 'Returns the invoice with its lines, taxes and discounts.',
    access: 'invoices:read',
    customerToken: 'answer',
    answer: InvoiceDto,
    conditional: true,
    problems: [invoiceNotFound],
  })
  async getInvoice(
    @Param('id', invoiceId) id: string,
    @Caller() caller: Principal,
  ): Promise<InvoiceDto> {
    return withETag(await this.getReadable(id, caller), toInvoiceDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update the metadata of an invoice',
    description:
      'Possible in every status. Nothing else can be changed. An empty body changes nothing.',
    access: 'invoices:write',
    answer: InvoiceDto,
    problems: [invoiceNotFound, metadataTooLarge, ...TEST_CLOCK_PROBLEMS],
  })
  async updateInvoice(
    @Param('id', invoiceId) id: string,
    @Body() body: UpdateInvoiceDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<InvoiceDto> {
    return withETag(await this.editing.updateMetadata(id, body.metadata, expected), toInvoiceDto);
  }

  @Delete(':id')
  @Operation({
    summary: 'Delete a draft',
    description:
      'A draft has no number and no ledger postings. Void a finalized invoice instead. A renewal draft cannot be deleted: ' +
      'nothing else would bill its period.',
    access: 'invoices:write',
    problems: [invoiceNotFound, invoiceNotDraft, invoiceBillsPeriod, ...TEST_CLOCK_PROBLEMS],
  })
  async deleteInvoice(
    @Param('id', invoiceId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.editing.delete(id, expected);
  }

  private async getReadable(id: string, caller: Principal): Promise<Invoice> {
    const invoice = await this.invoices.read(id);
    if (!mayReadCustomer(caller, invoice.customerId)) throw invoiceNotFound(id);
    return invoice;
  }
}
