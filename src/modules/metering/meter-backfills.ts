import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Jobs } from '../../platform/jobs';
import { BackfillMeters } from './store/backfill-meters';

export const BACKFILL_WORK = 'meter-backfills';
const EVERY_MS = 500;

/** Background job that counts events that were stored before their meter was created (backfill). */
@Injectable()
export class MeterBackfills implements OnModuleInit {
  private readonly logger = new Logger(BACKFILL_WORK);

  constructor(
    private readonly jobs: Jobs,
    private readonly backfillMeters: BackfillMeters,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: BACKFILL_WORK, idleMs: EVERY_MS, runDue: () => this.runDue() });
  }

  /** Runs one step of a backfill, and logs a failure. Returns true if the next step should follow at once. */
  async runDue(): Promise<boolean> {
    let isFailed = false;
    const result = await this.backfillMeters.runStep((error, meterId) => {
      isFailed = true;
      this.logger.error({ err: error, meter_id: meterId }, 'a step of a backfill failed');
    });
    return result === 'done' && !isFailed;
  }
}
