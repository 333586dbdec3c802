import { Injectable } from '@nestjs/common';
import { AwaitedPoller, PaymentsRepository } from '../../payments';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

/**
 * Completes payments without a final outcome: the process that started them stopped, or the provider did not answer or
 * answered `pending`.
 */
@Injectable()
export class DuePayments extends AwaitedPoller {
  constructor(repository: PaymentsRepository, resumption: ResumePaymentWorkflow) {
    super('due-payments', repository, resumption);
  }
}
