import { Injectable } from '@nestjs/common';
import { PaymentMethodSetupsRepository, ProviderPoller } from '../../payments';
import { CompleteSetupWorkflow } from './complete-setup.workflow';

/** Polls providers for setups of payment methods, in case a notification did not arrive, and cancels overdue setups. */
@Injectable()
export class DueSetups extends ProviderPoller {
  constructor(repository: PaymentMethodSetupsRepository, completeSetup: CompleteSetupWorkflow) {
    super('due-setups', repository, completeSetup);
  }
}
