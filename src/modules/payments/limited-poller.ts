import { type BeforeApplicationShutdown, Inject, type OnModuleDestroy } from '@nestjs/common';
import { Jobs } from '../../platform/jobs';

/** Maximum number of calls to providers that one job, such as `due-payments`, makes at once in one process. */
const MAX_CONCURRENT = 5;

/**
 * Job that calls providers about due objects, e.g. payments, at most {@link MAX_CONCURRENT} at once. Claims an object
 * only when its call can start, so that the lease covers only this call. A call that hangs does not delay other calls.
 * When the application stops, the job claims no more objects and waits for running calls.
 */
export abstract class LimitedPoller<Claimed> implements OnModuleDestroy, BeforeApplicationShutdown {
  @Inject() protected readonly jobs!: Jobs;
  /** Number of objects being polled, plus the number of objects that a running claim may still return. */
  private taken = 0;
  private readonly busy = new Set<Promise<void>>();
  protected stopping = false;

  protected constructor(protected readonly name: string) {}

  /** Leases up to `limit` due objects to this process, and returns them. */
  protected abstract claim(limit: number): Promise<readonly Claimed[]>;

  /** Calls the provider for one object and stores the result. Never throws. */
  protected abstract poll(claimed: Claimed): Promise<void>;

  /** Claims as many due objects as may be polled now, and starts to poll them. Does not wait for the answers. */
  protected async fill(): Promise<void> {
    if (this.stopping) return;
    await this.track(this.claimAndStart());
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.idle();
  }

  /** Resolves when no object is being claimed or polled. */
  async idle(): Promise<void> {
    while (this.busy.size > 0) await Promise.allSettled(this.busy);
  }

  private async claimAndStart(): Promise<void> {
    const free = MAX_CONCURRENT - this.taken;
    if (free === 0) return;
    this.taken += free;
    let claimed: readonly Claimed[] = [];
    try {
      claimed = await this.claim(free);
    } finally {
      this.taken -= free - claimed.length;
    }
    for (const one of claimed) void this.track(this.pollOne(one));
  }

  private async pollOne(claimed: Claimed): Promise<void> {
    try {
      await this.poll(claimed);
    } finally {
      this.taken -= 1;
      this.jobs.wake(this.name);
    }
  }

  private async track(work: Promise<void>): Promise<void> {
    this.busy.add(work);
    try {
      await work;
    } finally {
      this.busy.delete(work);
    }
  }
}
