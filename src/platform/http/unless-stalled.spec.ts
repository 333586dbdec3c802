import { ProblemError } from '../errors';
import { unlessStalled } from './unless-stalled';

const LONGEST_PAUSE_MS = 30_000;

/** Pieces that come after so many milliseconds each, until they stop coming without an end. */
async function* comingAfter(...pausesMs: readonly number[]): AsyncGenerator<number> {
  for (const pauseMs of pausesMs) {
    // eslint-disable-next-line house/no-sleep -- the time is faked
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    yield pauseMs;
  }
  await new Promise(() => undefined);
}

describe('a body that comes in pieces', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const silent = { socket: { bytesRead: 0 } };

  /** What was taken, and the error that ended it. */
  async function take(
    pieces: AsyncGenerator<number>,
    afterMs: number,
    sender = silent,
  ): Promise<{ taken: number; code: string | null }> {
    const taken: number[] = [];
    let code: string | null = null;
    const taking = (async () => {
      for await (const piece of unlessStalled(sender, pieces, LONGEST_PAUSE_MS)) {
        taken.push(piece);
      }
    })();
    taking.catch((error: unknown) => {
      code = error instanceof ProblemError ? error.definition.code : String(error);
    });
    await jest.advanceTimersByTimeAsync(afterMs);
    return { taken: taken.length, code };
  }

  it('may take as long as it likes, if it goes on', async () => {
    const slow = Array.from({ length: 100 }, () => LONGEST_PAUSE_MS - 1);
    expect(await take(comingAfter(...slow), 100 * (LONGEST_PAUSE_MS - 1))).toEqual({
      taken: 100,
      code: null,
    });
  });

  it('is given up when nothing comes', async () => {
    expect(await take(comingAfter(), LONGEST_PAUSE_MS - 1)).toEqual({ taken: 0, code: null });
    expect(await take(comingAfter(10, 10), LONGEST_PAUSE_MS + 21)).toEqual({
      taken: 2,
      code: 'request_timeout',
    });
  });

  it('goes on while its bytes come, though they are no piece yet', async () => {
    const sender = { socket: { bytesRead: 0 } };
    const drip = setInterval(() => (sender.socket.bytesRead += 1), 1_000);
    const waiting = take(comingAfter(), 10 * LONGEST_PAUSE_MS, sender);
    expect(await waiting).toEqual({ taken: 0, code: null });
    clearInterval(drip);
  });

  it('does not count the time in which nobody asks for a piece', async () => {
    const pieces = unlessStalled(silent, comingAfter(0, 0), LONGEST_PAUSE_MS);
    const first = pieces.next();
    await jest.advanceTimersByTimeAsync(0);
    expect(await first).toMatchObject({ done: false });
    await jest.advanceTimersByTimeAsync(10 * LONGEST_PAUSE_MS);
    const second = pieces.next();
    await jest.advanceTimersByTimeAsync(0);
    expect(await second).toMatchObject({ done: false });
  });

  it('is let go by whoever needs no more of it', async () => {
    let isOver = false;
    async function* endless(): AsyncGenerator<number> {
      try {
        for (;;) yield await Promise.resolve(1);
      } finally {
        isOver = true;
      }
    }
    const pieces = unlessStalled(silent, endless(), LONGEST_PAUSE_MS);
    await pieces.next();
    await pieces.return(undefined);
    expect(isOver).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });
});
