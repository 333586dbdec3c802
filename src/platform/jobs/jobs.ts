import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Counter } from 'prom-client';
import { Configuration } from '../config';
import { Database, isDatabaseOutOfReach } from '../database';
import { Metrics } from '../observability/metrics';
import { tracedRun } from '../tracing';
import type { WaitingRows } from './waiting-rows.repository';

/** Work whose due items, such as subscriptions to renew, are rows in the database. Any number of workers may run it. */
export interface DueWork {
  /** Unique name in kebab-case. */
  readonly name: string;
  /** Pause in milliseconds after a run that failed, or that returned false. */
  readonly idleMs: number;
  /**
   * Claims some due items and processes them. Returns true if more items may be due now. A failing item must not
   * prevent other items from being processed. If the run itself fails, the error is logged, and the next run follows
   * after the pause.
   */
  readonly runDue: () => Promise<boolean>;
  /** True if the work never waits for other background work, because it is short and its results are needed soon. */
  readonly isPrompt?: true;
  /** Rows that the metrics of due work count. If absent, the work has no metrics. */
  readonly waiting?: WaitingRows;
}

interface Loop {
  readonly work: DueWork;
  wake: () => void;
  /** True if a wake-up arrived while the work was running. The work then runs again before it pauses. */
  wakeRequested: boolean;
  ended: Promise<void>;
}

/** Runs due work (work that has become due, such as renewals) in the processes whose role includes it. */
@Injectable()
export class Jobs implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('jobs');
  private readonly loops = new Map<string, Loop>();
  private readonly pauseConditions: (() => boolean)[] = [];
  private readonly failedRuns: Counter<'work'>;
  private running = false;

  constructor(
    private readonly configuration: Configuration,
    private readonly database: Database,
    { registry }: Metrics,
  ) {
    this.failedRuns = new Counter({
      name: 'due_work_failed_runs_total',
      help: 'Runs of due work that failed as a whole, except during outages of the database.',
      labelNames: ['work'],
      registers: [registry],
    });
  }

  /** Registers work. Call it while the owning module starts. */
  register(work: DueWork): void {
    if (this.loops.has(work.name)) throw new Error(`The work ${work.name} is registered twice.`);
    this.loops.set(work.name, {
      work,
      wake: () => undefined,
      wakeRequested: false,
      ended: Promise.resolve(),
    });
  }

  get all(): readonly DueWork[] {
    return [...this.loops.values()].map(({ work }) => work);
  }

  /** Pauses all due work while the condition is true. The condition is evaluated before each run. */
  pauseWhile(condition: () => boolean): void {
    this.pauseConditions.push(condition);
  }

  onApplicationBootstrap(): void {
    if (!this.configuration.doesDueWork) return;
    this.running = true;
    // Starts each series at 0, because Prometheus sees no increase in a series that begins with its first failure.
    for (const work of this.loops.keys()) this.failedRuns.inc({ work }, 0);
    for (const loop of this.loops.values()) loop.ended = this.run(loop);
  }

  /** Prevents further runs of due work. Nest calls this first in a shutdown. */
  onModuleDestroy(): void {
    this.running = false;
    for (const loop of this.loops.values()) loop.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.loops.values()].map(({ ended }) => ended));
  }

  /** Runs the named work at once instead of after its pause. If the work is running, runs it again afterwards. */
  wake(name: string): void {
    const loop = this.loops.get(name);
    if (loop === undefined) return;
    loop.wakeRequested = true;
    loop.wake();
  }

  wakeAll(): void {
    for (const name of this.loops.keys()) this.wake(name);
  }

  private async run(loop: Loop): Promise<void> {
    while (this.running) {
      loop.wakeRequested = false;
      const more = this.isPaused() ? false : await this.runOnce(loop.work);
      if (!more && this.mayRest(loop)) await pause(loop);
    }
  }

  private isPaused(): boolean {
    return this.pauseConditions.some((condition) => condition());
  }

  /** Returns true if the loop may pause. It may not pause if `wake` or a shutdown happened during the last run. */
  private mayRest(loop: Loop): boolean {
    return this.running && !loop.wakeRequested;
  }

  private async runOnce(work: DueWork): Promise<boolean> {
    try {
      const run = () => tracedRun(work.name, work.runDue);
      return await (work.isPrompt === true ? run() : this.database.turns.inBackground(run));
    } catch (error) {
      if (!isDatabaseOutOfReach(error)) this.failedRuns.inc({ work: work.name });
      this.logger.error({ err: error, work: work.name }, 'due work failed');
      return false;
    }
  }
}

function pause(loop: Loop): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, loop.work.idleMs);
    loop.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
