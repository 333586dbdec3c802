import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { referenceNotFound } from '../../../platform/errors';
import { Operation, withETag } from '../../../platform/http';
import { IdempotentInPhases } from '../../../platform/idempotency';
import { customerCurrencyMismatch } from '../../customers';
import { invoiceNotPayable, invoicePaymentPending, paymentExceedsInvoice } from '../../invoicing';
import {
  CreatePaymentDto,
  paymentContradictsInvoice,
  PaymentDto,
  paymentMethodNotAccepted,
  paymentMethodRequired,
  paymentNotFound,
  paymentProviderNotEnabled,
  toPaymentDto,
  toPaymentRequest,
} from '../../payments';
import { TEST_CLOCK_PROBLEMS } from '../../test-clocks';
import { TakePaymentWorkflow } from './take-payment.workflow';

@ApiTags('Payments')
@Controller('v1/payments')
export class PaymentCommandsController {
  constructor(private readonly takePaymentWorkflow: TakePaymentWorkflow) {}

  @Post()
  @IdempotentInPhases()
  @Operation({
    summary: 'Take a payment',
    description:
      'Charges the customer through the provider. A refused payment is `failed` and has a `failure_code`; a ' +
      'payment without an outcome is `processing`, and is followed up in the background. With an `invoice_id` it pays that ' +
      'invoice; what the invoice no longer needs when the payment succeeds becomes credit of the customer.',
    access: 'payments:write',
    status: 201,
    answer: PaymentDto,
    key: 'required',
    problems: [
      paymentMethodNotAccepted,
      paymentMethodRequired,
      paymentProviderNotEnabled,
      referenceNotFound,
      customerCurrencyMismatch,
      paymentContradictsInvoice,
      invoiceNotPayable,
      invoicePaymentPending,
      paymentExceedsInvoice,
      paymentNotFound,
      ...TEST_CLOCK_PROBLEMS,
    ],
  })
  async createPayment(@Body() body: CreatePaymentDto): Promise<PaymentDto> {
    return withETag(await this.takePaymentWorkflow.take(toPaymentRequest(body)), toPaymentDto);
  }
}
