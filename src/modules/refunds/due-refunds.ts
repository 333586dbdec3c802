import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs } from '../../platform/jobs';
import { AskingWork } from '../payments';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';

/** Finishes refunds that are pending: left by a crash, by a call without an answer, or slow by nature. */
@Injectable()
export class DueRefunds extends AskingWork {
  constructor(jobs: Jobs, clock: Clock, repository: RefundsRepository, refunds: RefundsService) {
    super('due-refunds', jobs, clock, repository, refunds);
  }
}
