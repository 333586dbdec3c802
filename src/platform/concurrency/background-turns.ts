import { CallScope } from './call-scope';
import { ConcurrencyLimiter } from './concurrency-limiter';

/**
 * Maximum wait of a piece of work for the previous piece, in milliseconds. The previous piece may run for minutes.
 * After the wait, both pieces run in parallel.
 */
const MAX_WAIT_FOR_TURN_MS = 500;
/**
 * Maximum pause of all background work after one piece, in milliseconds. A slow piece therefore does not delay other
 * work for long.
 */
const MAX_PAUSE_AFTER_PIECE_MS = 250;
/** Maximum pause, in milliseconds, of a job whose own piece took longer than {@link MAX_PAUSE_AFTER_PIECE_MS}. */
const MAX_PAUSE_OF_LONG_WORK_MS = 2_000;

/**
 * Limits the background work of a process to about half of one core of the database server while requests arrive.
 * - Only one piece of background work, such as a transaction, runs at a time.
 * - After a piece, all background work pauses as long as the piece took, up to {@link MAX_PAUSE_AFTER_PIECE_MS}.
 * - The job of a longer piece pauses as long as the piece took, up to {@link MAX_PAUSE_OF_LONG_WORK_MS}.
 */
export class BackgroundTurns {
  private readonly background = new CallScope<true>();
  private readonly limiter = new ConcurrencyLimiter(1);
  private readonly conditions: (() => boolean)[] = [];

  /** Registers a condition. Background work takes turns while any condition returns true. */
  takeTurnsWhile(condition: () => boolean): void {
    this.conditions.push(condition);
  }

  /** Runs work as background work: its transactions and statements take turns with those of other background work. */
  inBackground<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.background.run(true, work);
  }

  /** Runs a piece of work: in its turn if the current work is background work, otherwise at once. */
  runPiece<Result>(piece: () => Promise<Result>): Promise<Result> {
    return this.background.current === undefined ? piece() : this.runBackgroundPiece(piece);
  }

  /**
   * Runs a piece of background work. If no condition of {@link takeTurnsWhile} is true, runs it at once. Otherwise
   * waits until the previous piece and its pause have ended, but at most for {@link MAX_WAIT_FOR_TURN_MS}.
   */
  async runBackgroundPiece<Result>(piece: () => Promise<Result>): Promise<Result> {
    if (!this.conditions.some((condition) => condition())) return piece();
    const leave = await this.limiter.enterOrTimeOut(MAX_WAIT_FOR_TURN_MS);
    const startedAt = performance.now();
    try {
      return await piece();
    } finally {
      const ranMs = performance.now() - startedAt;
      setTimeout(leave, Math.min(ranMs, MAX_PAUSE_AFTER_PIECE_MS)).unref();
      if (ranMs > MAX_PAUSE_AFTER_PIECE_MS) await sleep(Math.min(ranMs, MAX_PAUSE_OF_LONG_WORK_MS));
    }
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
