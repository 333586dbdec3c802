import { Injectable } from '@nestjs/common';
import { PROVIDER_EVENTS_WORK, ProviderEventsRepository, ProviderPoller } from '../../payments';
import { ApplyProviderEventWorkflow } from './apply-provider-event.workflow';

/** Applies notifications of providers in the background. */
@Injectable()
export class DueProviderEvents extends ProviderPoller {
  constructor(
    repository: ProviderEventsRepository,
    applyProviderEvent: ApplyProviderEventWorkflow,
  ) {
    super(PROVIDER_EVENTS_WORK, repository, applyProviderEvent);
  }
}
