import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs } from '../../platform/jobs';
import { AbandonedWork, ProcessSession } from '../../platform/processes';
import { AskingWork } from './asking-work';
import { PaymentsRepository } from './payments.repository';
import { PaymentsService } from './payments.service';

const WORK = 'due-payments';

/** Finishes payments whose outcome is not known: left by a crash, by a call without an answer, or slow by nature. */
@Injectable()
export class DuePayments extends AskingWork {
  constructor(
    jobs: Jobs,
    clock: Clock,
    session: ProcessSession,
    private readonly abandoned: AbandonedWork,
    repository: PaymentsRepository,
    payments: PaymentsService,
  ) {
    super(WORK, jobs, clock, session, repository, payments);
  }

  override onModuleInit(): void {
    super.onModuleInit();
    this.abandoned.register({ table: 'payment', leaseColumn: 'due_at', work: WORK });
  }
}
