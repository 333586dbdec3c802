import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Configuration } from '../../../platform/config';
import { Jobs } from '../../../platform/jobs';
import { ArchiveUsageWorkflow } from './archive-usage.workflow';

const EVERY_MS = 600_000;

/** Archives usage events when their retention ends. */
@Injectable()
export class DueUsageArchive implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
    private readonly workflow: ArchiveUsageWorkflow,
  ) {}

  onModuleInit(): void {
    if (this.configuration.usageArchive === null) return;
    this.jobs.register({
      name: 'usage-archive',
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
    });
  }

  /** Does one step of the archiving. Returns true if there may be more to do. */
  runDue(): Promise<boolean> {
    return this.workflow.step(this.clock.now());
  }
}
