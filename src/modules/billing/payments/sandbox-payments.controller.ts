import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdPipe, Operation, withETag } from '../../../platform/http';
import {
  PaymentDto,
  paymentNotFound,
  paymentNotInSandbox,
  SettleInSandboxDto,
  toFailureCode,
  toPaymentDto,
} from '../../payments';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

@ApiTags('Sandbox')
@Controller('v1/sandbox/payments')
export class SandboxPaymentsController {
  constructor(private readonly resumePaymentWorkflow: ResumePaymentWorkflow) {}

  @Post(':id/settle')
  @Operation({
    summary: 'Settle a pending sandbox payment',
    description:
      'Sets the outcome of a payment made with `pm_sandbox_pending`. Only if `PAYMENT_PROVIDERS` contains `sandbox`; otherwise 404 `route_not_found`.',
    access: 'payments:write',
    answer: PaymentDto,
    key: 'optional',
    problems: [paymentNotFound, paymentNotInSandbox],
  })
  async settleSandboxPayment(
    @Param('id', new IdPipe('pay', paymentNotFound)) id: string,
    @Body() body: SettleInSandboxDto,
  ): Promise<PaymentDto> {
    return withETag(
      await this.resumePaymentWorkflow.settleInSandbox(id, toFailureCode(body)),
      toPaymentDto,
    );
  }
}
