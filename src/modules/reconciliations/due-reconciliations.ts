import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs } from '../../platform/jobs';
import { AbandonedWork, ProcessSession, ReturnedLeases } from '../../platform/processes';
import { ProviderPoller } from '../payments';
import { ReconciliationsRepository } from './reconciliations.repository';
import { RECONCILIATIONS_WORK, ReconciliationsService } from './reconciliations.service';
import { RunReconciliationsService } from './run-reconciliations.service';

const DAILY_WORK = 'daily-reconciliations';
const EVERY_MS = 60_000;

/** Starts a comparison with each provider once a day, and continues those that run. */
@Injectable()
export class DueReconciliations extends ProviderPoller {
  constructor(
    private readonly work: Jobs,
    clock: Clock,
    session: ProcessSession,
    leases: ReturnedLeases,
    private readonly abandoned: AbandonedWork,
    repository: ReconciliationsRepository,
    private readonly reconciliations: ReconciliationsService,
    running: RunReconciliationsService,
  ) {
    super(RECONCILIATIONS_WORK, work, clock, session, leases, repository, running);
  }

  override onModuleInit(): void {
    super.onModuleInit();
    const work = RECONCILIATIONS_WORK;
    this.abandoned.register({ table: 'reconciliation', leaseColumn: 'due_at', work });
    this.work.register({
      name: DAILY_WORK,
      idleMs: EVERY_MS,
      runDue: async () => {
        await this.reconciliations.startDaily();
        return false;
      },
    });
  }
}
