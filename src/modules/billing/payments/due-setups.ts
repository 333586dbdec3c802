import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Jobs } from '../../../platform/jobs';
import { AbandonedWork, ProcessSession, ReturnedLeases } from '../../../platform/processes';
import { PaymentMethodSetupsRepository, ProviderPoller } from '../../payments';
import { CompleteSetupWorkflow } from './complete-setup.workflow';

const WORK = 'due-setups';

/** Asks providers about setups of payment methods, for notifications that did not arrive, and gives up overdue ones. */
@Injectable()
export class DueSetups extends ProviderPoller {
  constructor(
    jobs: Jobs,
    clock: Clock,
    session: ProcessSession,
    leases: ReturnedLeases,
    private readonly abandoned: AbandonedWork,
    repository: PaymentMethodSetupsRepository,
    completion: CompleteSetupWorkflow,
  ) {
    super(WORK, jobs, clock, session, leases, repository, completion);
  }

  override onModuleInit(): void {
    super.onModuleInit();
    this.abandoned.register({ table: 'payment_method_setup', leaseColumn: 'due_at', work: WORK });
  }
}
