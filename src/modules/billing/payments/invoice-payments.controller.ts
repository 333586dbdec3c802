import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../../platform/database';
import { referenceNotFound } from '../../../platform/errors';
import { IdPipe, IfMatch, Operation, withETag } from '../../../platform/http';
import { IdempotentInPhases } from '../../../platform/idempotency';
import { invoiceNotFound, invoiceNotPayable, invoicePaymentPending } from '../../invoicing';
import {
  PayInvoiceDto,
  PaymentDto,
  paymentMethodNotAccepted,
  paymentMethodRequired,
  paymentNotFound,
  paymentProviderNotEnabled,
  toMethodChoice,
  toPaymentDto,
} from '../../payments';
import { TEST_CLOCK_PROBLEMS } from '../../test-clocks';
import { TakePaymentWorkflow } from './take-payment.workflow';

@ApiTags('Invoices')
@Controller('v1/invoices')
export class InvoicePaymentsController {
  constructor(private readonly takePaymentWorkflow: TakePaymentWorkflow) {}

  @Post(':id/pay')
  @IdempotentInPhases()
  @Operation({
    summary: 'Pay an invoice',
    description:
      'Charges the unpaid amount and returns the payment. A refused payment is `failed`; a payment without an outcome is ' +
      '`processing`, and pays the invoice when it succeeds. Of concurrent calls, only one charges.',
    access: 'payments:write',
    status: 201,
    answer: PaymentDto,
    key: 'required',
    problems: [
      invoiceNotFound,
      invoiceNotPayable,
      invoicePaymentPending,
      paymentMethodNotAccepted,
      paymentMethodRequired,
      paymentProviderNotEnabled,
      referenceNotFound,
      paymentNotFound,
      ...TEST_CLOCK_PROBLEMS,
    ],
  })
  async payInvoice(
    @Param('id', new IdPipe('inv', invoiceNotFound)) id: string,
    @Body() body: PayInvoiceDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<PaymentDto> {
    return withETag(
      await this.takePaymentWorkflow.payInvoice(id, toMethodChoice(body), expected),
      toPaymentDto,
    );
  }
}
