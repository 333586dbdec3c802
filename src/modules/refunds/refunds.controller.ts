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
  withETag,
} from '../../platform/http';
import { ExpandsCustomers, withCustomer } from '../customers';
import { paymentNotFound } from '../payments';
import {
  ListRefundsDto,
  RefundFilterDto,
  RefundSummaryDto,
  toRefundFilter,
} from './dto/list-refunds.dto';
import { RefundDto, toRefundDto } from './dto/refund.dto';
import { RefundableDto, toRefundableDto } from './dto/refundable.dto';
import { refundNotFound } from './refunds.errors';
import { RefundsService } from './refunds.service';

@ApiTags('Refunds')
@Controller('v1/refunds')
export class RefundsController {
  constructor(private readonly refunds: RefundsService) {}

  @Get()
  @ExpandsCustomers()
  @Operation({
    summary: 'List refunds',
    description:
      'Newest first, including failed refunds. With an amount range but no time range, largest amount first.',
    access: 'refunds:read',
    answer: pageOf(withCustomer(RefundDto)),
  })
  async listRefunds(@Query() query: ListRefundsDto): Promise<PageDto<RefundDto>> {
    const request = toPageRequest(query, 'ref');
    return toPageDto(await this.refunds.list(toRefundFilter(query), request), toRefundDto);
  }

  @Get('summary')
  @Operation({
    summary: 'Sum up refunds',
    description:
      'Counts the refunds that match the filters of the list and sums their amounts, by currency.',
    access: 'refunds:read',
    answer: RefundSummaryDto,
    problems: [tooManyReports],
  })
  async summarizeRefunds(@Query() query: RefundFilterDto): Promise<SummaryDto> {
    return toSummaryDto(await this.refunds.summarize(toRefundFilter(query)));
  }

  @Get('payment/:paymentId/refundable')
  @Operation({
    summary: 'Read what can be refunded of a payment',
    description:
      'Both amounts are 0 unless the payment has succeeded, and while a dispute forbids refunds.',
    access: 'payments:read',
    answer: RefundableDto,
    problems: [paymentNotFound],
  })
  async getRefundable(
    @Param('paymentId', new IdPipe('pay', paymentNotFound)) paymentId: string,
  ): Promise<RefundableDto> {
    return toRefundableDto(await this.refunds.refundableOf(paymentId));
  }

  @Get(':id')
  @Operation({
    summary: 'Read a refund',
    description: 'Returns the refund with its status at the provider.',
    access: 'refunds:read',
    answer: RefundDto,
    conditional: true,
    problems: [refundNotFound],
  })
  async getRefund(@Param('id', new IdPipe('ref', refundNotFound)) id: string): Promise<RefundDto> {
    return withETag(await this.refunds.get(id), toRefundDto);
  }
}
