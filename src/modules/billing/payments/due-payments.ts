import { Injectable } from '@nestjs/common';
import { PaymentsRepository, ProviderPoller } from '../../payments';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

/**
 * Completes payments without a final outcome: those whose process stopped, whose provider did not answer, or whose
 * provider answered that they are pending.
 */
@Injectable()
export class DuePayments extends ProviderPoller {
  constructor(repository: PaymentsRepository, resumption: ResumePaymentWorkflow) {
    super('due-payments', repository, resumption);
  }
}
