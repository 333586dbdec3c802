import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs } from '../../platform/jobs';
import { AbandonedWork, ProcessSession, ReturnedLeases } from '../../platform/processes';
import { ProviderPoller } from '../payments';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';

const WORK = 'due-refunds';

/** Completes pending refunds: left by a crash, by a call without an answer, or slow at the provider. */
@Injectable()
export class DueRefunds extends ProviderPoller {
  constructor(
    jobs: Jobs,
    clock: Clock,
    session: ProcessSession,
    leases: ReturnedLeases,
    private readonly abandoned: AbandonedWork,
    repository: RefundsRepository,
    refunds: RefundsService,
  ) {
    super(WORK, jobs, clock, session, leases, repository, refunds);
  }

  override onModuleInit(): void {
    super.onModuleInit();
    this.abandoned.register({ table: 'refund', leaseColumn: 'due_at', work: WORK });
  }
}
