import { Injectable } from '@nestjs/common';
import { ProviderPoller } from '../payments';
import { ReconciliationsRepository } from './reconciliations.repository';
import { RECONCILIATIONS_WORK, ReconciliationsService } from './reconciliations.service';
import { RunReconciliationsService } from './run-reconciliations.service';

const DAILY_WORK = 'daily-reconciliations';
const EVERY_MS = 60_000;

/** Starts a reconciliation with each provider once a day, and runs the next steps of unfinished reconciliations. */
@Injectable()
export class DueReconciliations extends ProviderPoller {
  constructor(
    private readonly runs: ReconciliationsRepository,
    private readonly reconciliations: ReconciliationsService,
    runReconciliations: RunReconciliationsService,
  ) {
    super(RECONCILIATIONS_WORK, runs, runReconciliations);
  }

  override onModuleInit(): void {
    super.onModuleInit();
    this.leases.countInterruptions(this.runs.table);
    this.jobs.register({
      name: DAILY_WORK,
      idleMs: EVERY_MS,
      runDue: async () => {
        await this.reconciliations.startDaily();
        return false;
      },
    });
  }
}
