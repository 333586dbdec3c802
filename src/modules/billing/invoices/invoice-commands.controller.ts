import { Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../../platform/database';
import { invalidTransition } from '../../../platform/errors';
import { IdPipe, IfMatch, Operation, withETag } from '../../../platform/http';
import {
  invoiceCredited,
  InvoiceDto,
  invoiceEmpty,
  invoiceNotFound,
  invoiceNotOwed,
  invoiceNotVoid,
  invoiceOvertaken,
  invoicePartlyPaid,
  invoiceRegenerated,
  invoiceTooLarge,
  toInvoiceDto,
} from '../../invoicing';
import { usageArchived } from '../../metering';
import { TEST_CLOCK_PROBLEMS } from '../../test-clocks';
import { FinalizeInvoiceWorkflow } from './finalize-invoice.workflow';
import { MarkUncollectibleWorkflow } from './mark-uncollectible.workflow';
import { RegenerateInvoiceWorkflow } from './regenerate-invoice.workflow';
import { VoidInvoiceWorkflow } from './void-invoice.workflow';

const invoiceId = new IdPipe('inv', invoiceNotFound);

const CHANGE_PROBLEMS = [invoiceNotFound, invalidTransition, ...TEST_CLOCK_PROBLEMS];

@ApiTags('Invoices')
@Controller('v1/invoices')
export class InvoiceCommandsController {
  constructor(
    private readonly finalizeInvoiceWorkflow: FinalizeInvoiceWorkflow,
    private readonly voidInvoiceWorkflow: VoidInvoiceWorkflow,
    private readonly markUncollectibleWorkflow: MarkUncollectibleWorkflow,
    private readonly regenerateInvoiceWorkflow: RegenerateInvoiceWorkflow,
  ) {}

  @Post(':id/finalize')
  @Operation({
    summary: 'Finalize a draft',
    description:
      'The invoice takes the next number of its series, without a gap, and its amounts are fixed. If nothing is left to ' +
      'pay, it is paid at once; a negative total becomes customer credit. A renewal draft may be finalized before ' +
      '`finalizes_at`: it then bills the usage accepted so far, and the next invoice bills later usage.',
    access: 'invoices:write',
    answer: InvoiceDto,
    key: 'optional',
    problems: [...CHANGE_PROBLEMS, invoiceEmpty, invoiceTooLarge],
  })
  async finalizeInvoice(
    @Param('id', invoiceId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<InvoiceDto> {
    return withETag(await this.finalizeInvoiceWorkflow.finalize(id, expected), toInvoiceDto);
  }

  @Post(':id/void')
  @Operation({
    summary: 'Void an invoice',
    description:
      'Nothing is owed for a void invoice; it keeps its number. The credit it used returns to the customer. A pending ' +
      'payment becomes credit of the customer when it succeeds. A subscription that waits for this invoice to be paid expires. ' +
      'Refused if lines of the invoice were credited (`invoice_credited`) or a part of it was paid (`invoice_partly_paid`): ' +
      'issue a credit note for the rest. Such a note activates a subscription that waits for the rest. To end that ' +
      'subscription instead, cancel it with `when: now`: its invoice becomes void, and the paid part becomes credit. ' +
      'Also refused if the invoice billed usage of archived months (`usage_archived`).',
    access: 'invoices:write',
    answer: InvoiceDto,
    key: 'optional',
    problems: [...CHANGE_PROBLEMS, invoiceCredited, invoicePartlyPaid, usageArchived],
  })
  async voidInvoice(
    @Param('id', invoiceId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<InvoiceDto> {
    return withETag(await this.voidInvoiceWorkflow.void(id, expected), toInvoiceDto);
  }

  @Post(':id/mark-uncollectible')
  @Operation({
    summary: 'Write an invoice off',
    description:
      'The open amount becomes bad debt. The invoice can still be paid or voided. A subscription that is past due or unpaid ' +
      'becomes active shortly after, if it has no other open invoice.',
    access: 'invoices:write',
    answer: InvoiceDto,
    key: 'optional',
    problems: [...CHANGE_PROBLEMS, invoiceNotOwed],
  })
  async markInvoiceUncollectible(
    @Param('id', invoiceId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<InvoiceDto> {
    return withETag(
      await this.markUncollectibleWorkflow.markUncollectible(id, expected),
      toInvoiceDto,
    );
  }

  @Post(':id/reissue')
  @Operation({
    summary: 'Regenerate a void invoice',
    description:
      'Makes and finalizes an invoice for the part of the same charges that is still owed, with the current coupons, taxes and ' +
      'credit. `reissue_of` is the id of the void invoice. A void invoice is regenerated once. Refused if a prepaid item ' +
      'was changed since, or ended with credit.',
    access: 'invoices:write',
    status: 201,
    answer: InvoiceDto,
    key: 'required',
    problems: [
      invoiceNotFound,
      invoiceNotVoid,
      invoiceRegenerated,
      invoiceOvertaken,
      invoiceTooLarge,
      usageArchived,
      ...TEST_CLOCK_PROBLEMS,
    ],
  })
  async reissueInvoice(
    @Param('id', invoiceId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<InvoiceDto> {
    return withETag(await this.regenerateInvoiceWorkflow.regenerate(id, expected), toInvoiceDto);
  }
}
