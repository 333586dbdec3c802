/** Runs a bounded number of pieces of work at once. All other pieces wait, and start in the order of their arrival. */
export class ConcurrencyLimiter {
  private running = 0;
  private readonly queue: (() => void)[] = [];

  /**
   * @param maxConcurrent maximum number of pieces of work that run at the same time
   * @param maxWaiting maximum number of pieces that wait for their turn; not enforced, but reported by `isFull`
   */
  constructor(
    private readonly maxConcurrent: number,
    private readonly maxWaiting = Infinity,
  ) {}

  /** True if another piece of work could not start now, and could not wait either. */
  get isFull(): boolean {
    return this.running >= this.maxConcurrent && this.queue.length >= this.maxWaiting;
  }

  /** Runs the work in its turn. With a limited `maxWaiting`, check `isFull` first. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const release = await this.enter();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Waits up to `maxMs` for a turn. Returns a function that ends the turn; if the wait timed out, it does nothing. */
  async enterOrTimeOut(maxMs: number): Promise<() => void> {
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(), maxMs);
    try {
      return await this.enter(waiting.signal);
    } catch {
      return () => undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Waits for a turn.
   * @param signal stops the waiting; does not end a turn that has begun
   * @returns a function that ends the turn; its second call is a no-op
   */
  async enter(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.running < this.maxConcurrent) this.running += 1;
    else await this.nextTurn(signal);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.leave();
    };
  }

  private nextTurn(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.queue.splice(this.queue.indexOf(start), 1);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.queue.push(start);
    });
  }

  private leave(): void {
    const next = this.queue.shift();
    if (next === undefined) this.running -= 1;
    else next();
  }
}
