import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Jobs } from '../../../platform/jobs';
import { AbandonedWork, ProcessSession, ReturnedLeases } from '../../../platform/processes';
import { PROVIDER_EVENTS_WORK, ProviderEventsRepository, ProviderPoller } from '../../payments';
import { ApplyProviderEventWorkflow } from './apply-provider-event.workflow';

/** Reads the payments and refunds that notifications of providers are about. */
@Injectable()
export class DueProviderEvents extends ProviderPoller {
  constructor(
    jobs: Jobs,
    clock: Clock,
    session: ProcessSession,
    leases: ReturnedLeases,
    private readonly abandoned: AbandonedWork,
    repository: ProviderEventsRepository,
    applying: ApplyProviderEventWorkflow,
  ) {
    super(PROVIDER_EVENTS_WORK, jobs, clock, session, leases, repository, applying);
  }

  override onModuleInit(): void {
    super.onModuleInit();
    const work = PROVIDER_EVENTS_WORK;
    this.abandoned.register({ table: 'provider_event', leaseColumn: 'due_at', work });
  }
}
