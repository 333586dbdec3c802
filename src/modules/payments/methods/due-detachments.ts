import { Injectable } from '@nestjs/common';
import { ProviderPoller } from '../provider-poller';
import { DetachMethodsService } from './detach-methods.service';
import { PaymentMethodsRepository } from './payment-methods.repository';

/** Background work that tries to detach each deleted payment method at the provider, until the method is detached. */
@Injectable()
export class DueDetachments extends ProviderPoller {
  constructor(repository: PaymentMethodsRepository, detachMethods: DetachMethodsService) {
    super('due-detachments', repository, detachMethods);
  }
}
