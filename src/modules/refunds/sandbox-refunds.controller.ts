import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdPipe, Operation, withETag } from '../../platform/http';
import { paymentNotFound } from '../payments';
import { RefundDto, toRefundDto } from './dto/refund.dto';
import { SettleRefundInSandboxDto, toFailureCode } from './dto/settle-refund-in-sandbox.dto';
import { refundNotFound, refundNotInSandbox } from './refunds.errors';
import { RefundsService } from './refunds.service';

@ApiTags('Sandbox')
@Controller('v1/sandbox/refunds')
export class SandboxRefundsController {
  constructor(private readonly refunds: RefundsService) {}

  @Post(':id/settle')
  @Operation({
    summary: 'Settle a pending sandbox refund',
    description:
      'Sets the outcome of a refund of a payment made with `pm_sandbox_refund_pending`. Only if `PAYMENT_PROVIDERS` contains `sandbox`; otherwise 404 `route_not_found`.',
    access: 'refunds:write',
    answer: RefundDto,
    key: 'optional',
    problems: [refundNotFound, paymentNotFound, refundNotInSandbox],
  })
  async settleSandboxRefund(
    @Param('id', new IdPipe('ref', refundNotFound)) id: string,
    @Body() body: SettleRefundInSandboxDto,
  ): Promise<RefundDto> {
    return withETag(await this.refunds.settleInSandbox(id, toFailureCode(body)), toRefundDto);
  }
}
