import { Injectable } from '@nestjs/common';
import { ProviderPoller } from '../payments';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';

/** Polls providers about pending refunds, which a crash, a call without an answer or a slow provider left unfinished. */
@Injectable()
export class DueRefunds extends ProviderPoller {
  constructor(repository: RefundsRepository, refunds: RefundsService) {
    super('due-refunds', repository, refunds);
  }
}
