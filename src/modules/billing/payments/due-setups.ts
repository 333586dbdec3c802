import { Injectable } from '@nestjs/common';
import { PaymentMethodSetupsRepository, ProviderPoller } from '../../payments';
import { CompleteSetupWorkflow } from './complete-setup.workflow';

/** Asks providers about setups of payment methods, for notifications that did not arrive, and gives up overdue ones. */
@Injectable()
export class DueSetups extends ProviderPoller {
  constructor(repository: PaymentMethodSetupsRepository, completion: CompleteSetupWorkflow) {
    super('due-setups', repository, completion);
  }
}
