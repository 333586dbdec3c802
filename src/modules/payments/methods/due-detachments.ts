import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Jobs } from '../../../platform/jobs';
import { AbandonedWork, ProcessSession, ReturnedLeases } from '../../../platform/processes';
import { ProviderPoller } from '../provider-poller';
import { DetachMethodsService } from './detach-methods.service';
import { PaymentMethodsRepository } from './payment-methods.repository';

const WORK = 'due-detachments';

/** Detaches deleted payment methods at their providers, until each is detached. */
@Injectable()
export class DueDetachments extends ProviderPoller {
  constructor(
    jobs: Jobs,
    clock: Clock,
    session: ProcessSession,
    leases: ReturnedLeases,
    private readonly abandoned: AbandonedWork,
    repository: PaymentMethodsRepository,
    detaching: DetachMethodsService,
  ) {
    super(WORK, jobs, clock, session, leases, repository, detaching);
  }

  override onModuleInit(): void {
    super.onModuleInit();
    this.abandoned.register({ table: 'payment_method', leaseColumn: 'due_at', work: WORK });
  }
}
