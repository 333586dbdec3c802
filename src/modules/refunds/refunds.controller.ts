import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import { idempotencyKeyMismatch } from '../../platform/errors';
import {
  IdPipe,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../platform/http';
import { IdempotencyKey, IdempotentInPhases } from '../../platform/idempotency';
import {
  paymentDisputed,
  paymentNotFound,
  paymentNotRefundable,
  paymentProviderNotEnabled,
  refundAmountExceedsRefundable,
} from '../payments';
import { CreateRefundDto, toRefundRequest } from './dto/create-refund.dto';
import { ListRefundsDto } from './dto/list-refunds.dto';
import { RefundDto, toRefundDto } from './dto/refund.dto';
import { refundLimitExceeded, refundNotFound } from './refunds.errors';
import { RefundsService } from './refunds.service';

@ApiTags('Refunds')
@Controller('v1/refunds')
export class RefundsController {
  constructor(private readonly refunds: RefundsService) {}

  @Post('payment/:paymentId')
  @IdempotentInPhases('idempotencyKey')
  @Operation({
    summary: 'Refund a payment',
    description:
      'Gives back a part or all that remains of a payment that succeeded. A refusal of the provider is a refund ' +
      'with status `failed` and its `failure_code`; a slow one is `pending` and is followed up in the background.',
    access: 'refunds:write',
    status: 201,
    answer: RefundDto,
    reads: 'post',
    key: 'required',
    problems: [
      paymentNotFound,
      paymentNotRefundable,
      paymentDisputed,
      refundAmountExceedsRefundable,
      paymentProviderNotEnabled,
      refundLimitExceeded,
      idempotencyKeyMismatch,
    ],
  })
  async createRefund(
    @Param('paymentId', new IdPipe('pay', paymentNotFound)) paymentId: string,
    @Body() body: CreateRefundDto,
    @IdempotencyKey('idempotencyKey') idempotencyKey: string | null,
    @Caller() { refundLimits }: Principal,
  ): Promise<RefundDto> {
    const request = toRefundRequest(paymentId, body, idempotencyKey);
    return withETag(await this.refunds.create(request, refundLimits), toRefundDto);
  }

  @Get()
  @Operation({
    summary: 'List refunds',
    description: 'Newest first, failed refunds included.',
    access: 'refunds:read',
    answer: pageOf(RefundDto),
    reads: 'list',
  })
  async listRefunds(@Query() query: ListRefundsDto): Promise<PageDto<RefundDto>> {
    const request = toPageRequest(query, 'ref');
    return toPageDto(await this.refunds.list(query.payment_id ?? null, request), toRefundDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a refund',
    description: 'Returns the refund with its status at the provider.',
    access: 'refunds:read',
    answer: RefundDto,
    reads: 'path',
    problems: [refundNotFound],
  })
  async getRefund(@Param('id', new IdPipe('ref', refundNotFound)) id: string): Promise<RefundDto> {
    return withETag(await this.refunds.get(id), toRefundDto);
  }
}
