import { Injectable } from '@nestjs/common';
import { ProviderPoller } from '../payments';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';

/** Completes pending refunds: left by a crash, by a call without an answer, or slow at the provider. */
@Injectable()
export class DueRefunds extends ProviderPoller {
  constructor(repository: RefundsRepository, refunds: RefundsService) {
    super('due-refunds', repository, refunds);
  }
}
