import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidCursor, invalidTransition, referenceNotFound } from '../../platform/errors';
import {
  IdPipe,
  NoFields,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { testClockAdvancing, testClockFailed } from '../test-clocks';
import { CreditNotesService } from './credit-notes.service';
import {
  CreateCreditNoteDto,
  CreditNoteDto,
  ListCreditNotesDto,
  toCreditNoteDto,
  toCreditNoteOrder,
} from './dto/credit-note.dto';
import {
  creditExceedsLine,
  creditGivenBackAlready,
  creditNoteNotFound,
  creditNoteSettled,
  invoiceNotCreditable,
} from './invoicing.errors';

const noteId = new IdPipe('cn', creditNoteNotFound);

@ApiTags('Credit notes')
@Controller('v1/credit-notes')
export class CreditNotesController {
  constructor(private readonly notes: CreditNotesService) {}

  @Post()
  @Operation({
    summary: 'Issue a credit note',
    description:
      'Takes parts of lines back with the tax that belongs to them. It lowers what the invoice still owes; the rest is ' +
      'credit, or is to be refunded as far as it was paid in money. Several notes together never credit more than a line, and in all exactly its tax.',
    access: 'invoices:write',
    status: 201,
    answer: CreditNoteDto,
    reads: 'post',
    key: 'required',
    problems: [
      referenceNotFound,
      invoiceNotCreditable,
      creditExceedsLine,
      creditGivenBackAlready,
      testClockAdvancing,
      testClockFailed,
    ],
  })
  async createCreditNote(@Body() body: CreateCreditNoteDto): Promise<CreditNoteDto> {
    return toCreditNoteDto(await this.notes.issue(toCreditNoteOrder(body)));
  }

  @Get()
  @Operation({
    summary: 'List credit notes',
    description: 'Newest first, void ones included.',
    access: 'invoices:read',
    status: 200,
    answer: pageOf(CreditNoteDto),
    reads: 'query',
    problems: [invalidCursor],
  })
  async listCreditNotes(@Query() query: ListCreditNotesDto): Promise<PageDto<CreditNoteDto>> {
    const page = await this.notes.list(query.invoice_id ?? null, toPageRequest(query, 'cn'));
    return toPageDto(page, toCreditNoteDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a credit note',
    description: 'Returns the credit note with its lines.',
    access: 'invoices:read',
    status: 200,
    answer: CreditNoteDto,
    reads: 'path',
    problems: [creditNoteNotFound],
  })
  async getCreditNote(@Param('id', noteId) id: string): Promise<CreditNoteDto> {
    return toCreditNoteDto(await this.notes.get(id));
  }

  @Post(':id/void')
  @NoFields()
  @Operation({
    summary: 'Void a credit note',
    description: 'What it took back is owed again. Refused once what it gave was used.',
    access: 'invoices:write',
    status: 200,
    answer: CreditNoteDto,
    reads: 'post',
    key: 'required',
    problems: [
      creditNoteNotFound,
      invalidTransition,
      creditNoteSettled,
      testClockAdvancing,
      testClockFailed,
    ],
  })
  async voidCreditNote(@Param('id', noteId) id: string): Promise<CreditNoteDto> {
    return toCreditNoteDto(await this.notes.void(id));
  }
}
