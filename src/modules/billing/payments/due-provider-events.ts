import { Injectable } from '@nestjs/common';
import { PROVIDER_EVENTS_WORK, ProviderEventsRepository, ProviderPoller } from '../../payments';
import { ApplyProviderEventWorkflow } from './apply-provider-event.workflow';

@Injectable()
export class DueProviderEvents extends ProviderPoller {
  constructor(
    repository: ProviderEventsRepository,
    applyProviderEvent: ApplyProviderEventWorkflow,
  ) {
    super(PROVIDER_EVENTS_WORK, repository, applyProviderEvent);
  }
}
