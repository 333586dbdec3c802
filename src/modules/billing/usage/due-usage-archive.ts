import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Configuration } from '../../../platform/config';
import { Jobs } from '../../../platform/jobs';
import { ArchiveUsageWorkflow } from './archive-usage.workflow';

const EVERY_MS = 600_000;

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

  runDue(): Promise<boolean> {
    return this.workflow.step(this.clock.now());
  }
}
