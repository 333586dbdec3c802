import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal, requireScope } from '../../../platform/access';
import { idempotencyKeyMismatch, referenceNotFound } from '../../../platform/errors';
import { IdPipe, Operation, withETag } from '../../../platform/http';
import { IdempotencyKey, IdempotentInPhases } from '../../../platform/idempotency';
import {
  creditExceedsLine,
  creditGivenBackAlready,
  creditTakesNothing,
  invoiceNotCreditable,
} from '../../invoicing';
import {
  paymentDisputed,
  paymentNotFound,
  paymentNotRefundable,
  paymentProviderNotEnabled,
  refundAmountExceedsRefundable,
} from '../../payments';
import {
  CreateRefundDto,
  paymentHasNoInvoice,
  refundDiffersFromCreditNote,
  RefundDto,
  refundLimitExceeded,
  toRefundDto,
  toRefundRequest,
} from '../../refunds';
import { TEST_CLOCK_PROBLEMS } from '../../test-clocks';
import { RefundPaymentWorkflow } from './refund-payment.workflow';

@ApiTags('Refunds')
@Controller('v1/refunds')
export class RefundCommandsController {
  constructor(private readonly refundPaymentWorkflow: RefundPaymentWorkflow) {}

  @Post('payment/:paymentId')
  @IdempotentInPhases('idempotencyKey')
  @Operation({
    summary: 'Refund a payment',
    description:
      'Refunds a part or all that remains of a succeeded payment. A refused refund is `failed` and has a `failure_code`; ' +
      'a refund without an outcome is `pending`, and is followed up in the background. With a `credit_note`, note and refund are created in one commit.',
    access: 'refunds:write',
    status: 201,
    answer: RefundDto,
    key: 'required',
    problems: [
      paymentNotFound,
      paymentNotRefundable,
      paymentDisputed,
      refundAmountExceedsRefundable,
      paymentProviderNotEnabled,
      refundLimitExceeded,
      idempotencyKeyMismatch,
      paymentHasNoInvoice,
      refundDiffersFromCreditNote,
      referenceNotFound,
      invoiceNotCreditable,
      creditExceedsLine,
      creditTakesNothing,
      creditGivenBackAlready,
      ...TEST_CLOCK_PROBLEMS,
    ],
  })
  async createRefund(
    @Param('paymentId', new IdPipe('pay', paymentNotFound)) paymentId: string,
    @Body() body: CreateRefundDto,
    @IdempotencyKey('idempotencyKey') idempotencyKey: string | null,
    @Caller() caller: Principal,
  ): Promise<RefundDto> {
    const request = toRefundRequest(paymentId, body, idempotencyKey);
    if (request.creditNote !== null) requireScope(caller, 'invoices:write');
    return withETag(
      await this.refundPaymentWorkflow.refund(request, caller.refundLimits),
      toRefundDto,
    );
  }
}
