import { Injectable } from '@nestjs/common';

/** Background work that also runs by test clocks, for the objects on one clock at a time. */
export interface TestClockJob {
  /** kebab-case, unique */
  readonly name: string;
  /** Returns when the next object on the clock falls due; null when nothing is planned. */
  readonly nextDueAt: (testClockId: string) => Promise<Date | null>;
  /** Processes all objects on the clock that are due at `now`, the instant the clock shows. */
  readonly runDue: (testClockId: string, now: Date) => Promise<void>;
}

/** Registry of jobs. Modules with scheduled work register it; advancing a test clock runs it. */
@Injectable()
export class TestClockJobs {
  private readonly jobs: TestClockJob[] = [];

  register(job: TestClockJob): void {
    this.jobs.push(job);
  }

  /** Returns the job that falls due first on the clock, with the instant; null when nothing is planned. */
  async next(testClockId: string): Promise<{ job: TestClockJob; dueAt: Date } | null> {
    let earliest: { job: TestClockJob; dueAt: Date } | null = null;
    for (const job of this.jobs) {
      const dueAt = await job.nextDueAt(testClockId);
      if (dueAt !== null && (earliest === null || dueAt < earliest.dueAt)) {
        earliest = { job, dueAt };
      }
    }
    return earliest;
  }
}
