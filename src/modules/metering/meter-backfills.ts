import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Jobs } from '../../platform/jobs';
import { BackfillMeters } from './store/backfill-meters';

export const BACKFILL_WORK = 'meter-backfills';
const EVERY_MS = 500;

/** Continues the backfills of meters in the background. */
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

  /**
   * Does one step of a backfill, and logs its failure. Returns true if a step was done, so that the next one can follow at once.
   */
  async runDue(): Promise<boolean> {
    let isFailed = false;
    const result = await this.backfillMeters.runStep((error, meterId) => {
      isFailed = true;
      this.logger.error({ err: error, meter_id: meterId }, 'a step of a backfill failed');
    });
    return result === 'done' && !isFailed;
  }
}
