import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs } from '../../platform/jobs';
import { AskingWork } from './asking-work';
import { PaymentsRepository } from './payments.repository';
import { PaymentsService } from './payments.service';

/** Finishes payments whose outcome is not known: left by a crash, by a call without an answer, or slow by nature. */
@Injectable()
export class DuePayments extends AskingWork {
  constructor(jobs: Jobs, clock: Clock, repository: PaymentsRepository, payments: PaymentsService) {
    super('due-payments', jobs, clock, repository, payments);
  }
}
