import {
  type BeforeApplicationShutdown,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import type { Clock } from '../../platform/clock';
import type { Jobs } from '../../platform/jobs';
import type { ProcessSession } from '../../platform/processes';
import { AskingLanes } from './asking-lanes';
import { askingLease, type Lease } from './domain/payment';

const EVERY_MS = 1_000;

/** Things whose provider has not said what became of them. */
export interface DueThings {
  /** Ids of at most so many that are due, leased until then. */
  readonly claimDue: (now: Date, lease: Lease, most: number) => Promise<readonly string[]>;
}

/** What finishes one of them: asks the provider, and writes down what it says. */
export interface Resumption {
  readonly resume: (id: string) => Promise<unknown>;
}

/** Background work that finishes what a provider left open, a few at once. */
export abstract class AskingWork
  implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly logger: Logger;
  private readonly lanes = new AskingLanes({
    claim: (most) => this.claim(most),
    ask: (id) => this.finish(id),
    onFree: () => {
      this.jobs.wake(this.name);
    },
  });

  protected constructor(
    private readonly name: string,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly session: ProcessSession,
    private readonly things: DueThings,
    private readonly resumption: Resumption,
  ) {
    this.logger = new Logger(name);
  }

  onModuleInit(): void {
    this.jobs.register({ name: this.name, idleMs: EVERY_MS, runDue: () => this.runDue() });
  }

  onModuleDestroy(): void {
    this.lanes.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.idle();
  }

  /** Claims what there are free lanes for and starts finishing it. What has ended wakes the work again. */
  async runDue(): Promise<boolean> {
    await this.lanes.fill();
    return false;
  }

  /** Resolves once nothing is being finished. */
  idle(): Promise<void> {
    return this.lanes.idle();
  }

  private claim(most: number): Promise<readonly string[]> {
    const now = this.clock.now();
    return this.things.claimDue(now, askingLease(now, this.session.number), most);
  }

  private async finish(id: string): Promise<void> {
    try {
      await this.resumption.resume(id);
    } catch (error) {
      this.logger.error({ err: error, object_id: id }, 'due work was not finished');
    }
  }
}
