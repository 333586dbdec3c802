import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
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
  withETag,
} from '../../platform/http';
import { ExpandsCustomers, withCustomer } from '../customers';
import { ClientActionsService } from './client-actions.service';
import { ClientActionDto, toClientActionDto } from './dto/client-action.dto';
import {
  PaymentFilterDto,
  PaymentSummaryDto,
  ListPaymentsDto,
  toPaymentFilter,
} from './dto/list-payments.dto';
import { PaymentDto, toPaymentDto } from './dto/payment.dto';
import {
  paymentActionNotRequired,
  paymentNotFound,
  paymentProviderUnavailable,
} from './payments.errors';
import { PaymentsService } from './payments.service';

@ApiTags('Payments')
@Controller('v1/payments')
export class PaymentsController {
  constructor(
    private readonly payments: PaymentsService,
    private readonly actions: ClientActionsService,
  ) {}

  @Get()
  @ExpandsCustomers()
  @Operation({
    summary: 'List payments',
    description:
      'Newest first, including failed payments. With an amount range but no time range, largest amount first.',
    access: 'payments:read',
    answer: pageOf(withCustomer(PaymentDto)),
  })
  async listPayments(@Query() query: ListPaymentsDto): Promise<PageDto<PaymentDto>> {
    const request = toPageRequest(query, 'pay');
    return toPageDto(await this.payments.list(toPaymentFilter(query), request), toPaymentDto);
  }

  @Get('summary')
  @Operation({
    summary: 'Sum up payments',
    description:
      'Counts the payments that match the filters of the list and sums their amounts, by currency.',
    access: 'payments:read',
    answer: PaymentSummaryDto,
    problems: [tooManyReports],
  })
  async summarizePayments(@Query() query: PaymentFilterDto): Promise<SummaryDto> {
    return toSummaryDto(await this.payments.summarize(toPaymentFilter(query)));
  }

  @Get(':id')
  @Operation({
    summary: 'Read a payment',
    description: 'Returns the payment with the amount refunded so far.',
    access: 'payments:read',
    answer: PaymentDto,
    conditional: true,
    problems: [paymentNotFound],
  })
  async getPayment(
    @Param('id', new IdPipe('pay', paymentNotFound)) id: string,
  ): Promise<PaymentDto> {
    return withETag(await this.payments.get(id), toPaymentDto);
  }

  @Get(':id/client-action')
  @Operation({
    summary: 'Read the confirmation that the customer must give',
    description:
      'Returns the client secret with which the provider’s script in the browser lets the customer confirm the payment, e.g. by ' +
      '3-D Secure. The secret is read from the provider for each request and not stored. Send it only to the customer, ' +
      'because it is sufficient to confirm the payment.',
    access: 'payments:write',
    answer: ClientActionDto,
    problems: [paymentNotFound, paymentActionNotRequired, paymentProviderUnavailable],
  })
  async getPaymentClientAction(
    @Param('id', new IdPipe('pay', paymentNotFound)) id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ClientActionDto> {
    response.setHeader('Cache-Control', 'no-store');
    return toClientActionDto(await this.actions.get(id));
  }
}
