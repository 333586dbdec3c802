import { Injectable } from '@nestjs/common';
import { AwaitedPoller, PaymentsRepository } from '../../payments';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

/**
 * Completes payments that have no final outcome. The process that started such a payment stopped, or the provider did
 * not answer, or the provider answered `pending`.
 */
@Injectable()
export class DuePayments extends AwaitedPoller {
  constructor(repository: PaymentsRepository, resumption: ResumePaymentWorkflow) {
    super('due-payments', repository, resumption);
  }
}
