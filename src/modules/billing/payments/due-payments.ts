import { Injectable } from '@nestjs/common';
import { AwaitedPoller, PaymentsRepository } from '../../payments';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

/**
 * Completes payments that have no final outcome, because the process that started them stopped, or because the provider
 * did not answer or answered `pending`.
 */
@Injectable()
export class DuePayments extends AwaitedPoller {
  constructor(repository: PaymentsRepository, resumption: ResumePaymentWorkflow) {
    super('due-payments', repository, resumption);
  }
}
