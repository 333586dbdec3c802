/** Maximum number of provider requests that one process has in flight for one kind of object. */
const MAX_CONCURRENT = 5;

/** Callbacks with which a module polls its own objects, such as payments or refunds. */
export interface DuePolls<Claimed> {
  /** Leases up to `limit` due objects to this process, and returns them. */
  readonly claim: (limit: number) => Promise<readonly Claimed[]>;
  /** Asks the provider about one object and stores the result. Never throws. */
  readonly poll: (claimed: Claimed) => Promise<void>;
  /** Called when a poll has ended, so that another object can be polled. */
  readonly onFree: () => void;
}

/**
 * Polls providers about due objects, at most {@link MAX_CONCURRENT} at once. An object is claimed only when its call
 * can start, so that the lease covers only this call. A call that hangs does not delay the others.
 */
export class PollingLimiter<Claimed> {
  /** Number of objects being polled, plus those that a claim in flight may return. */
  private taken = 0;
  private readonly busy = new Set<Promise<void>>();
  private stopping = false;

  constructor(private readonly due: DuePolls<Claimed>) {}

  /** Claims as many objects as may be polled now and starts polling them. Does not wait for the answers. */
  async fill(): Promise<void> {
    if (this.stopping) return;
    await this.track(this.claimAndStart());
  }

  /** Stops claiming objects. Calls in flight continue. */
  stop(): void {
    this.stopping = true;
  }

  /** Resolves once no object is being claimed or polled. */
  async idle(): Promise<void> {
    while (this.busy.size > 0) await Promise.allSettled(this.busy);
  }

  private async claimAndStart(): Promise<void> {
    const free = MAX_CONCURRENT - this.taken;
    if (free === 0) return;
    this.taken += free;
    let claimed: readonly Claimed[] = [];
    try {
      claimed = await this.due.claim(free);
    } finally {
      this.taken -= free - claimed.length;
    }
    for (const one of claimed) void this.track(this.pollOne(one));
  }

  private async pollOne(claimed: Claimed): Promise<void> {
    try {
      await this.due.poll(claimed);
    } finally {
      this.taken -= 1;
      this.due.onFree();
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
