import { Injectable } from '@nestjs/common';
import { PaymentsRepository, ProviderPoller } from '../../payments';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

/**
 * Completes payments without a final outcome: after a crash, after a call without an answer, or after a pending answer.
 */
@Injectable()
export class DuePayments extends ProviderPoller {
  constructor(repository: PaymentsRepository, resumption: ResumePaymentWorkflow) {
    super('due-payments', repository, resumption);
  }
}
