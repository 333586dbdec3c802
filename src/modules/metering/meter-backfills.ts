import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Jobs } from '../../platform/jobs';
import { BackfillMeters } from './store/backfill-meters';

export const BACKFILL_WORK = 'meter-backfills';
const EVERY_MS = 500;

/** Background job that counts events that were stored before their meter was created (backfill). */
@Injectable()
export class MeterBackfills implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly backfillMeters: BackfillMeters,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: BACKFILL_WORK, idleMs: EVERY_MS, runDue: () => this.runDue() });
  }

  /** Runs one step of a backfill. Returns true if the next step should follow at once. */
  async runDue(): Promise<boolean> {
    return (await this.backfillMeters.runStep()) === 'done';
  }
}
