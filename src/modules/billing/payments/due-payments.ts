import { Injectable } from '@nestjs/common';
import { PaymentsRepository, ProviderPoller } from '../../payments';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

/** Completes payments without a final outcome: left by a crash, by a call without an answer, or slow at the provider. */
@Injectable()
export class DuePayments extends ProviderPoller {
  constructor(repository: PaymentsRepository, resumption: ResumePaymentWorkflow) {
    super('due-payments', repository, resumption);
  }
}
