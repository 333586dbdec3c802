import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidTransition, referenceNotFound } from '../../../platform/errors';
import { IdPipe, Operation } from '../../../platform/http';
import {
  CreateCreditNoteDto,
  creditExceedsLine,
  creditTakesNothing,
  creditGivenBackAlready,
  CreditNoteDto,
  creditNoteNotFound,
  creditNoteCorrected,
  creditNoteSettled,
  invoiceNotCreditable,
  toCreditNoteDto,
  toCreditNoteRequest,
} from '../../invoicing';
import { paymentDisputed } from '../../payments';
import { TEST_CLOCK_PROBLEMS } from '../../test-clocks';
import { IssueCreditNoteWorkflow } from './issue-credit-note.workflow';
import { VoidCreditNoteWorkflow } from './void-credit-note.workflow';

const noteId = new IdPipe('cn', creditNoteNotFound);

@ApiTags('Credit notes')
@Controller('v1/credit-notes')
export class CreditNoteCommandsController {
  constructor(
    private readonly issueCreditNoteWorkflow: IssueCreditNoteWorkflow,
    private readonly voidCreditNoteWorkflow: VoidCreditNoteWorkflow,
  ) {}

  @Post()
  @Operation({
    summary: 'Issue a credit note',
    description:
      'Credits parts of invoice lines, with their tax. It lowers what is still owed on the invoice; the rest becomes credit ' +
      'of the customer, or is to be refunded as far as it was paid in money. Several notes together credit at most a line and its tax.',
    access: 'invoices:write',
    status: 201,
    answer: CreditNoteDto,
    key: 'required',
    problems: [
      referenceNotFound,
      invoiceNotCreditable,
      creditExceedsLine,
      creditTakesNothing,
      creditGivenBackAlready,
      paymentDisputed,
      ...TEST_CLOCK_PROBLEMS,
    ],
  })
  async createCreditNote(@Body() body: CreateCreditNoteDto): Promise<CreditNoteDto> {
    return toCreditNoteDto(await this.issueCreditNoteWorkflow.issue(toCreditNoteRequest(body)));
  }

  @Post(':id/void')
  @Operation({
    summary: 'Void a credit note',
    description:
      'The invoice owes the credited amount again. Refused if its credit was used, its refund is pending or has succeeded, it lowered an invoice that is no longer open, or a later invoice took back a part of its lines.',
    access: 'invoices:write',
    answer: CreditNoteDto,
    key: 'required',
    problems: [
      creditNoteNotFound,
      invalidTransition,
      creditNoteCorrected,
      creditNoteSettled,
      ...TEST_CLOCK_PROBLEMS,
    ],
  })
  async voidCreditNote(@Param('id', noteId) id: string): Promise<CreditNoteDto> {
    return toCreditNoteDto(await this.voidCreditNoteWorkflow.void(id));
  }
}
