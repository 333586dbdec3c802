import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidCursor } from '../../platform/errors';
import {
  IdPipe,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../platform/http';
import { ListPaymentsDto, toPaymentFilter } from './dto/list-payments.dto';
import { PaymentDto, toPaymentDto } from './dto/payment.dto';
import { paymentNotFound } from './payments.errors';
import { PaymentsService } from './payments.service';

@ApiTags('Payments')
@Controller('v1/payments')
export class PaymentsController {
  constructor(private readonly payments: PaymentsService) {}

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
