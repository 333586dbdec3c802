import { Injectable } from '@nestjs/common';
import { ProviderPoller } from '../payments';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';

/**
 * Polls providers about refunds that stayed pending after a crash, a call without an answer, or with a slow provider.
 */
@Injectable()
export class DueRefunds extends ProviderPoller {
  constructor(repository: RefundsRepository, refunds: RefundsService) {
    super('due-refunds', repository, refunds);
  }
}
