import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidCursor, referenceNotFound } from '../../platform/errors';
import {
  IdPipe,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../platform/http';
import { IdempotentInPhases } from '../../platform/idempotency';
import { customerCurrencyMismatch } from '../customers';
import { invoiceNotPayable, invoicePaymentPending, paymentExceedsInvoice } from '../invoicing';
import { testClockAdvancing, testClockFailed } from '../test-clocks';
import { CreatePaymentDto, toPaymentRequest } from './dto/create-payment.dto';
import { ListPaymentsDto, toPaymentFilter } from './dto/list-payments.dto';
import { PaymentDto, toPaymentDto } from './dto/payment.dto';
import {
  paymentContradictsInvoice,
  paymentMethodNotAccepted,
  paymentMethodRequired,
  paymentNotFound,
  paymentProviderNotEnabled,
} from './payments.errors';
import { PaymentsService } from './payments.service';

@ApiTags('Payments')
@Controller('v1/payments')
export class PaymentsController {
  constructor(private readonly payments: PaymentsService) {}

  @Post()
  @IdempotentInPhases()
  @Operation({
    summary: 'Take a payment',
    description:
      'Charges the customer through the provider. A refusal is a payment with status `failed` and its ' +
      '`failure_code`; an outcome that is not known yet is `processing`, and is followed up in the background. With an ' +
      '`invoice_id` it pays that invoice; of what the invoice does not need any more when the money comes, the customer has credit.',
    access: 'payments:write',
    status: 201,
    answer: PaymentDto,
    reads: 'post',
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
      testClockAdvancing,
      testClockFailed,
    ],
  })
  async createPayment(@Body() body: CreatePaymentDto): Promise<PaymentDto> {
    return withETag(await this.payments.create(toPaymentRequest(body)), toPaymentDto);
  }

  @Get()
  @Operation({
    summary: 'List payments',
    description: 'Newest first, failed payments included.',
    access: 'payments:read',
    status: 200,
    answer: pageOf(PaymentDto),
    reads: 'query',
    problems: [invalidCursor],
  })
  async listPayments(@Query() query: ListPaymentsDto): Promise<PageDto<PaymentDto>> {
    const request = toPageRequest(query, 'pay');
    return toPageDto(await this.payments.list(toPaymentFilter(query), request), toPaymentDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a payment',
    description: 'Returns the payment with the amount refunded so far.',
    access: 'payments:read',
    status: 200,
    answer: PaymentDto,
    reads: 'path',
    problems: [paymentNotFound],
  })
  async getPayment(
    @Param('id', new IdPipe('pay', paymentNotFound)) id: string,
  ): Promise<PaymentDto> {
    return withETag(await this.payments.get(id), toPaymentDto);
  }
}
