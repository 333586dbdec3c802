import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Jobs } from '../../../platform/jobs';
import { ProviderEventsService } from './provider-events.service';

const EVERY_MS = 5_000;

/** Lists the events of providers in the background, and stores the events that no notification delivered. */
@Injectable()
export class MissedProviderEvents implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly events: ProviderEventsService,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'missed-provider-events',
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
    });
  }

  async runDue(): Promise<boolean> {
    await this.events.listMissed();
    return false;
  }
}
