import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdPipe, Operation } from '../../platform/http';
import { PaymentDto, toPaymentDto } from './dto/payment.dto';
import { SettleInSandboxDto, toFailureCode } from './dto/settle-in-sandbox.dto';
import { paymentNotFound, paymentNotInSandbox } from './payments.errors';
import { PaymentsService } from './payments.service';

@ApiTags('Sandbox')
@Controller('v1/sandbox/payments')
export class SandboxPaymentsController {
  constructor(private readonly payments: PaymentsService) {}

  @Post(':id/settle')
  @Operation({
    summary: 'Settle a pending sandbox payment',
    description: 'Plays the gateway: decides a payment made with `pm_sandbox_pending`.',
    access: 'payments:write',
    status: 200,
    answer: PaymentDto,
    reads: 'post',
    key: 'optional',
    problems: [paymentNotFound, paymentNotInSandbox],
  })
  async settleSandboxPayment(
    @Param('id', new IdPipe('pay', paymentNotFound)) id: string,
    @Body() body: SettleInSandboxDto,
  ): Promise<PaymentDto> {
    return toPaymentDto(await this.payments.settleInSandbox(id, toFailureCode(body)));
  }
}
