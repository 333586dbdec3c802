import { Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidTransition } from '../../../platform/errors';
import { IdempotentInPhases } from '../../../platform/idempotency';
import { IdPipe, Operation } from '../../../platform/http';
import {
  DiscrepancyDto,
  discrepancyNotApplicable,
  discrepancyNotFound,
  paymentProviderUnavailable,
  refundAmountExceedsRefundable,
  toDiscrepancyDto,
} from '../../payments';
import { ApplyDiscrepancyWorkflow } from './apply-discrepancy.workflow';

const discrepancyId = new IdPipe('dscr', discrepancyNotFound);

@ApiTags('Provider discrepancies')
@Controller('v1/provider-discrepancies')
export class DiscrepancyCommandsController {
  constructor(private readonly applyDiscrepancyWorkflow: ApplyDiscrepancyWorkflow) {}

  @Post(':id/apply')
  @IdempotentInPhases()
  @Operation({
    summary: 'Apply a provider discrepancy',
    description:
      'Books what the provider reported: a payment or refund that failed has succeeded after all. A payment pays what is ' +
      'owed on its invoice; the rest is credit. Applying it again changes nothing.',
    access: 'payments:write',
    answer: DiscrepancyDto,
    key: 'optional',
    problems: [
      discrepancyNotFound,
      discrepancyNotApplicable,
      invalidTransition,
      refundAmountExceedsRefundable,
      paymentProviderUnavailable,
    ],
  })
  async applyProviderDiscrepancy(@Param('id', discrepancyId) id: string): Promise<DiscrepancyDto> {
    return toDiscrepancyDto(await this.applyDiscrepancyWorkflow.apply(id));
  }
}
