import { Injectable } from '@nestjs/common';
import { AwaitedPoller } from '../payments';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';

/**
 * Polls providers about refunds that stayed pending, e.g. after a crash, after a call without an answer, or because the
 * provider is slow.
 */
@Injectable()
export class DueRefunds extends AwaitedPoller {
  constructor(repository: RefundsRepository, refunds: RefundsService) {
    super('due-refunds', repository, refunds);
  }
}
