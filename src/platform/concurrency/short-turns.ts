import { ConcurrencyLimiter } from './concurrency-limiter';

/**
 * Runs a bounded number of pieces of work at once, in the order of their arrival. A piece that runs longer than
 * `maxTurnMs` may be blocked, for example by a lock. This piece is then overdue: it continues, and the next piece
 * starts. If the maximum number of overdue pieces is reached, a long piece keeps its turn, and the next piece waits.
 */
export class ShortTurns {
  private readonly turns: ConcurrencyLimiter;
  private readonly overdue: ConcurrencyLimiter;

  /**
   * @param maxTurnMs time after which a piece is overdue
   * @param maxOverdue maximum number of overdue pieces; 0: all pieces keep their turns
   */
  constructor(
    maxConcurrent: number,
    private readonly maxTurnMs: number,
    private readonly maxOverdue: number,
  ) {
    this.turns = new ConcurrencyLimiter(maxConcurrent);
    this.overdue = new ConcurrencyLimiter(maxOverdue);
  }

  /**
   * Runs the work in its turn.
   * @param signal stops the waiting for the turn; does not stop the work
   */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const endTurn = await this.turns.enter(signal);
    const result = Promise.resolve().then(work);
    const runOn = async (): Promise<void> => {
      endTurn();
      await Promise.allSettled([result]);
    };
    const timer =
      this.maxOverdue > 0
        ? setTimeout(() => void this.overdue.run(runOn), this.maxTurnMs)
        : undefined;
    try {
      return await result;
    } finally {
      clearTimeout(timer);
      endTurn();
    }
  }
}
