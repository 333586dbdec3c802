import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Jobs } from '../../../platform/jobs';
import { AbandonedWork, ProcessSession, ReturnedLeases } from '../../../platform/processes';
import { PaymentsRepository, ProviderPoller } from '../../payments';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

const WORK = 'due-payments';

/** Completes payments without a final outcome: left by a crash, by a call without an answer, or slow at the provider. */
@Injectable()
export class DuePayments extends ProviderPoller {
  constructor(
    jobs: Jobs,
    clock: Clock,
    session: ProcessSession,
    leases: ReturnedLeases,
    private readonly abandoned: AbandonedWork,
    repository: PaymentsRepository,
    resumption: ResumePaymentWorkflow,
  ) {
    super(WORK, jobs, clock, session, leases, repository, resumption);
  }

  override onModuleInit(): void {
    super.onModuleInit();
    this.abandoned.register({ table: 'payment', leaseColumn: 'due_at', work: WORK });
  }
}
