import { Injectable } from '@nestjs/common';
import { ProviderPoller } from '../provider-poller';
import { DetachMethodsService } from './detach-methods.service';
import { PaymentMethodsRepository } from './payment-methods.repository';

/** Background work that detaches deleted payment methods at the provider. Tries each method until it is detached. */
@Injectable()
export class DueDetachments extends ProviderPoller {
  constructor(repository: PaymentMethodsRepository, detachMethods: DetachMethodsService) {
    super('due-detachments', repository, detachMethods);
  }
}
