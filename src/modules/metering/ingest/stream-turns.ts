import { ConcurrencyLimiter } from '../../../platform/concurrency';
import { MAX_EVENTS_IN_MEMORY } from './staged-events';

/** Maximum number of short NDJSON bodies that are stored at a time. */
const MAX_SHORT = 4;
/** Maximum number of long NDJSON bodies that are stored at a time. Each uses a database connection until it ends. */
const MAX_LONG = 4;
/** Maximum size of a short body. A short body also has at most {@link MAX_EVENTS_IN_MEMORY} lines. */
const MAX_SHORT_BYTES = 2 ** 20;

/** Lines of a body that arrived together. */
export interface StreamPiece<Item> {
  readonly items: readonly Item[];
  readonly bytes: number;
}

interface CallerTurns {
  readonly limiter: ConcurrencyLimiter;
  waitingOrRunning: number;
}

/**
 * Limits how many NDJSON bodies are stored at the same time. A short body, which fits into memory, waits for its turn
 * after it has arrived completely, so that a slow client occupies no turn. A body that gets too long for memory waits
 * for its turn before more of it is read.
 */
export class StreamTurns {
  private readonly short = new ConcurrencyLimiter(MAX_SHORT);
  private readonly long: ConcurrencyLimiter;
  private readonly maxLongOfCaller: number;
  private readonly byCaller = new Map<string, CallerTurns>();

  /**
   * One caller can have at most half of the turns of long bodies, rounded up. A caller who sends slowly then does not
   * keep all others waiting.
   * @param poolSize number of database connections; long bodies leave at least one of them free
   */
  constructor(poolSize: number) {
    const maxLong = Math.min(MAX_LONG, poolSize - 1);
    this.long = new ConcurrencyLimiter(maxLong);
    this.maxLongOfCaller = Math.ceil(maxLong / 2);
  }

  /**
   * Runs `store`, which reads a body to its end and stores it. Reading waits for the turn of the body.
   * @param caller sender of the body; null: no limit for long bodies of one sender
   */
  async run<Item, Result>(
    pieces: AsyncIterable<StreamPiece<Item>>,
    caller: string | null,
    store: (items: AsyncIterable<readonly Item[]>) => Promise<Result>,
  ): Promise<Result> {
    const turn: (() => void)[] = [];
    const enterLong = () => this.enterLong(caller);
    const { short } = this;
    async function* inTurn(): AsyncGenerator<readonly Item[]> {
      let [lines, bytes] = [0, 0];
      for await (const piece of pieces) {
        lines += piece.items.length;
        bytes += piece.bytes;
        const isLong = lines > MAX_EVENTS_IN_MEMORY || bytes > MAX_SHORT_BYTES;
        if (isLong && turn.length === 0) turn.push(await enterLong());
        yield piece.items;
      }
      if (turn.length === 0) turn.push(await short.enter());
    }
    try {
      return await store(inTurn());
    } finally {
      for (const leave of turn) leave();
    }
  }

  private async enterLong(caller: string | null): Promise<() => void> {
    if (caller === null) return this.long.enter();
    const own = this.byCaller.get(caller) ?? {
      limiter: new ConcurrencyLimiter(this.maxLongOfCaller),
      waitingOrRunning: 0,
    };
    this.byCaller.set(caller, own);
    own.waitingOrRunning += 1;
    const leaveOwn = await own.limiter.enter();
    const leave = await this.long.enter();
    return () => {
      leave();
      leaveOwn();
      own.waitingOrRunning -= 1;
      if (own.waitingOrRunning === 0) this.byCaller.delete(caller);
    };
  }
}
