import { Injectable } from '@nestjs/common';
import { PaymentsRepository, ProviderPoller } from '../../payments';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

/**
 * Completes payments without a final outcome. The process that started such a payment stopped, or the provider did
 * not answer, or answered that the payment is pending.
 */
@Injectable()
export class DuePayments extends ProviderPoller {
  constructor(repository: PaymentsRepository, resumption: ResumePaymentWorkflow) {
    super('due-payments', repository, resumption);
  }
}
