import { CallScope } from './call-scope';
import { ConcurrencyLimiter } from './concurrency-limiter';

/** Longest wait for a turn. It is limited because a piece may take minutes. */
const LONGEST_WAIT_MS = 500;
/** Longest pause of all background work after a piece. It is limited so that background work goes on under any load. */
const LONGEST_PAUSE_MS = 250;
/** Longest pause of the work whose own piece took longer than `LONGEST_PAUSE_MS`. */
const LONGEST_REST_MS = 2_000;

/**
 * Limits the background work of a process while there are requests: one piece runs at a time, and after each piece there is a
 * pause as long as the piece took, within the limits above. So it uses at most about half of one core of the database.
 */
export class BackgroundTurns {
  private readonly background = new CallScope<true>();
  private readonly limiter = new ConcurrencyLimiter(1);
  private readonly conditions: (() => boolean)[] = [];

  /** Makes background work take turns while the condition holds. */
  takeTurnsWhile(condition: () => boolean): void {
    this.conditions.push(condition);
  }

  /** Runs work whose pieces take turns. */
  inBackground<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.background.run(true, work);
  }

  /** Runs a piece of work: in turn if it belongs to background work, else at once. */
  runPiece<Result>(piece: () => Promise<Result>): Promise<Result> {
    return this.background.current === undefined ? piece() : this.runBackgroundPiece(piece);
  }

  /**
   * Runs a piece of background work: at once if no condition holds, else in its turn. If the wait for the turn takes
   * `LONGEST_WAIT_MS`, runs it beside the previous piece.
   */
  async runBackgroundPiece<Result>(piece: () => Promise<Result>): Promise<Result> {
    if (!this.conditions.some((condition) => condition())) return piece();
    const leave = await this.limiter.enterOrTimeOut(LONGEST_WAIT_MS);
    const startedAt = performance.now();
    try {
      return await piece();
    } finally {
      const ranMs = performance.now() - startedAt;
      setTimeout(leave, Math.min(ranMs, LONGEST_PAUSE_MS)).unref();
      if (ranMs > LONGEST_PAUSE_MS) await sleep(Math.min(ranMs, LONGEST_REST_MS));
    }
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
