import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../platform/database';
import {
  invalidCursor,
  invalidTransition,
  metadataTooLarge,
  referenceNotFound,
} from '../../platform/errors';
import {
  IdPipe,
  IfMatch,
  NoFields,
  Operation,
  type PageDto,
  pageOf,
  sendFile,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../platform/http';
import { customerCurrencyMismatch } from '../customers';
import { testClockAdvancing, testClockFailed } from '../test-clocks';
import {
  CreateInvoiceDto,
  ListInvoicesDto,
  toInvoiceFilter,
  toOneOffOrder,
} from './dto/create-invoice.dto';
import { ExplanationDto, toExplanationDto } from './dto/explanation.dto';
import { InvoiceDto, toInvoiceDto } from './dto/invoice.dto';
import { UpdateInvoiceDto } from './dto/update-invoice.dto';
import { EditInvoiceService } from './edit-invoice.service';
import { FinalizeInvoicesService } from './finalize-invoices.service';
import {
  invoiceBillsPeriod,
  invoiceCredited,
  invoiceEmpty,
  invoiceLineNotFound,
  invoiceNotDraft,
  invoiceNotFound,
  invoicePartlyPaid,
  invoiceTooLarge,
} from './invoicing.errors';
import { InvoicesService } from './invoices.service';
import { PrintInvoiceService } from './print-invoice.service';

const invoiceId = new IdPipe('inv', invoiceNotFound);
const lineId = new IdPipe('il', invoiceLineNotFound);

const CHANGE_PROBLEMS = [invoiceNotFound, invalidTransition, testClockAdvancing, testClockFailed];

@ApiTags('Invoices')
@Controller('v1/invoices')
export class InvoicesController {
  constructor(
    private readonly invoices: InvoicesService,
    private readonly finalizing: FinalizeInvoicesService,
    private readonly editing: EditInvoiceService,
    private readonly printing: PrintInvoiceService,
  ) {}

  @Post()
  @Operation({
    summary: 'Create a one-off invoice',
    description:
      'A draft with the lines given; taxes and credit are decided again when it is finalised.',
    access: 'invoices:write',
    status: 201,
    answer: InvoiceDto,
    reads: 'post',
    key: 'optional',
    problems: [
      referenceNotFound,
      customerCurrencyMismatch,
      invoiceTooLarge,
      testClockAdvancing,
      testClockFailed,
    ],
  })
  async createInvoice(@Body() body: CreateInvoiceDto): Promise<InvoiceDto> {
    return withETag(await this.invoices.createOneOff(toOneOffOrder(body)), toInvoiceDto);
  }

  @Get()
  @Operation({
    summary: 'List invoices',
    description: 'Newest first, drafts and void invoices included.',
    access: 'invoices:read',
    status: 200,
    answer: pageOf(InvoiceDto),
    reads: 'query',
    problems: [invalidCursor],
  })
  async listInvoices(@Query() query: ListInvoicesDto): Promise<PageDto<InvoiceDto>> {
    const page = await this.invoices.list(toInvoiceFilter(query), toPageRequest(query, 'inv'));
    return toPageDto(page, toInvoiceDto);
  }

  // Before `:id`, which would take the ending for a part of the id.
  @Get(':id.pdf')
  @Operation({
    summary: 'Print an invoice',
    description:
      'A4, with dates in the time zone of the customer. Buyer and seller are those of the instant at which it was finalised; ' +
      'a draft shows them as they are now. The same invoice gives the same bytes for as long as it has not changed.',
    access: 'invoices:read',
    status: 200,
    file: 'application/pdf',
    reads: 'path',
    problems: [invoiceNotFound],
  })
  async printInvoice(@Param('id', invoiceId) id: string, @Res() response: Response): Promise<void> {
    const { fileName, bytes } = await this.printing.print(id);
    sendFile(response, { mediaType: 'application/pdf', fileName, bytes });
  }

  @Get(':id')
  @Operation({
    summary: 'Read an invoice',
    description: 'Returns the invoice with its lines, taxes and discounts.',
    access: 'invoices:read',
    status: 200,
    answer: InvoiceDto,
    reads: 'path',
    problems: [invoiceNotFound],
  })
  async getInvoice(@Param('id', invoiceId) id: string): Promise<InvoiceDto> {
    return withETag(await this.invoices.get(id), toInvoiceDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update the metadata of an invoice',
    description:
      'Whatever its state; nothing else of an invoice can be changed. Nothing sent changes nothing.',
    access: 'invoices:write',
    status: 200,
    answer: InvoiceDto,
    reads: 'change',
    problems: [invoiceNotFound, metadataTooLarge, testClockAdvancing, testClockFailed],
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
      'It has no number and nothing was posted for it. A finalised invoice is voided instead; the draft of a renewal stays, ' +
      'since nothing else would bill its period.',
    access: 'invoices:write',
    status: 204,
    reads: 'removal',
    problems: [
      invoiceNotFound,
      invoiceNotDraft,
      invoiceBillsPeriod,
      testClockAdvancing,
      testClockFailed,
    ],
  })
  async deleteInvoice(
    @Param('id', invoiceId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.editing.delete(id, expected);
  }

  @Post(':id/finalize')
  @NoFields()
  @Operation({
    summary: 'Finalise a draft',
    description:
      'It takes the next number of its series, without a gap, and its amounts are fixed. With nothing left to pay it is ' +
      'paid at once; a negative total becomes credit of the customer. The draft of a renewal does not wait for ' +
      '`finalizes_at` then: it has the usage that came until now, and what comes later is on the next invoice.',
    access: 'invoices:write',
    status: 200,
    answer: InvoiceDto,
    reads: 'post',
    key: 'optional',
    problems: [...CHANGE_PROBLEMS, invoiceEmpty, invoiceTooLarge],
  })
  async finalizeInvoice(@Param('id', invoiceId) id: string): Promise<InvoiceDto> {
    return toInvoiceDto(await this.finalizing.finalize(id));
  }

  @Post(':id/void')
  @NoFields()
  @Operation({
    summary: 'Void an invoice',
    description:
      'Nothing is owed for it any more; it keeps its number. The credit it used returns to the customer, and so does the ' +
      'money of a payment that is under way, once it comes. A subscription that waits for its payment expires with it. ' +
      'Refused once lines of it were credited (`invoice_credited`) or a part of it was paid (`invoice_partly_paid`): then a ' +
      'credit note takes back the rest. A subscription that waits for the rest would begin with such a note; ' +
      'cancel it instead, with `when: now`: its invoice is void then, and what was paid is credit of the customer.',
    access: 'invoices:write',
    status: 200,
    answer: InvoiceDto,
    reads: 'post',
    key: 'optional',
    problems: [...CHANGE_PROBLEMS, invoiceCredited, invoicePartlyPaid],
  })
  async voidInvoice(@Param('id', invoiceId) id: string): Promise<InvoiceDto> {
    return toInvoiceDto(await this.invoices.void(id));
  }

  @Post(':id/mark-uncollectible')
  @NoFields()
  @Operation({
    summary: 'Write an invoice off',
    description:
      'What is owed for it becomes bad debt; it can still be paid or voided. A subscription that waits for its payment ' +
      'expires with it.',
    access: 'invoices:write',
    status: 200,
    answer: InvoiceDto,
    reads: 'post',
    key: 'optional',
    problems: CHANGE_PROBLEMS,
  })
  async markInvoiceUncollectible(@Param('id', invoiceId) id: string): Promise<InvoiceDto> {
    return toInvoiceDto(await this.invoices.markUncollectible(id));
  }

  @Get(':id/lines/:line_id/explanation')
  @Operation({
    summary: 'Explain a line',
    description:
      'The price as it was, the tiers, the quantity, the part of the period and the shares of coupons and tax, ' +
      'evaluated again by the functions that made the line.',
    access: 'invoices:read',
    status: 200,
    answer: ExplanationDto,
    reads: 'path',
    problems: [invoiceNotFound, invoiceLineNotFound],
  })
  async explainInvoiceLine(
    @Param('id', invoiceId) id: string,
    @Param('line_id', lineId) line: string,
  ): Promise<ExplanationDto> {
    return toExplanationDto(await this.invoices.explainLine(id, line));
  }
}
