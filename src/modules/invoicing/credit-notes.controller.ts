import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { tooManyReports } from '../../platform/errors';
import {
  IdPipe,
  Operation,
  type PageDto,
  pageOf,
  type SummaryDto,
  toSummaryDto,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { ExpandsCustomers, withCustomer } from '../customers';
import { CreditNotesService } from './credit-notes.service';
import {
  CreditNoteDto,
  CreditNoteFilterDto,
  CreditNoteSummaryDto,
  ListCreditNotesDto,
  toCreditNoteDto,
  toCreditNoteFilter,
} from './dto/credit-note.dto';
import { creditNoteNotFound } from './invoicing.errors';

const noteId = new IdPipe('cn', creditNoteNotFound);

@ApiTags('Credit notes')
@Controller('v1/credit-notes')
export class CreditNotesController {
  constructor(private readonly notes: CreditNotesService) {}

  @Get()
  @ExpandsCustomers()
  @Operation({
    summary: 'List credit notes',
    description:
      'Newest first, including void credit notes. With a range of totals but no time range, largest total first.',
    access: 'invoices:read',
    answer: pageOf(withCustomer(CreditNoteDto)),
  })
  async listCreditNotes(@Query() query: ListCreditNotesDto): Promise<PageDto<CreditNoteDto>> {
    const page = await this.notes.list(toCreditNoteFilter(query), toPageRequest(query, 'cn'));
    return toPageDto(page, toCreditNoteDto);
  }

  @Get('summary')
  @Operation({
    summary: 'Sum up credit notes',
    description:
      'Counts the credit notes that match the filters of the list and sums their amounts, by currency.',
    access: 'invoices:read',
    answer: CreditNoteSummaryDto,
    problems: [tooManyReports],
  })
  async summarizeCreditNotes(@Query() query: CreditNoteFilterDto): Promise<SummaryDto> {
    return toSummaryDto(await this.notes.summarize(toCreditNoteFilter(query)));
  }

  @Get(':id')
  @Operation({
    summary: 'Read a credit note',
    description: 'Returns the credit note with its lines.',
    access: 'invoices:read',
    answer: CreditNoteDto,
    problems: [creditNoteNotFound],
  })
  async getCreditNote(@Param('id', noteId) id: string): Promise<CreditNoteDto> {
    return toCreditNoteDto(await this.notes.get(id));
  }
}
