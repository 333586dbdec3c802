import { setTimeout as sleep } from 'node:timers/promises';

const SECOND_MS = 1_000;

/**
 * Delays the requests of this process, so that they reach each endpoint at even intervals. Refuses a request that would
 * wait too long.
 */
export class RequestPacer {
  private readonly nextAt = new Map<string, number>();

  /** @param perSecond requests per second to one endpoint */
  constructor(
    private readonly perSecond: number,
    private readonly longestWaitMs: number,
  ) {}

  /** Waits until a request may be sent. Returns false at once if the wait would be longer than `longestWaitMs`. */
  async waitForTurn(endpoint: string): Promise<boolean> {
    const now = performance.now();
    const at = Math.max(now, this.nextAt.get(endpoint) ?? 0);
    if (at - now > this.longestWaitMs) return false;
    this.nextAt.set(endpoint, at + SECOND_MS / this.perSecond);
    if (at > now) await sleep(at - now);
    return true;
  }
}
