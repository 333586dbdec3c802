import { ProblemError } from '../errors';
import { readUnlessStalled } from './read-unless-stalled';

const LONGEST_PAUSE_MS = 30_000;
/** Bytes of a chunk that is not slow. */
const MANY_BYTES = 65_536;

class Sender {
  readonly socket = { bytesRead: 0 };
  complete = false;

  /** Sends chunks of `bytes` after the given pauses, then nothing, without ending. */
  async *sendingAfter(pausesMs: readonly number[], bytes = MANY_BYTES): AsyncGenerator<number> {
    for (const pauseMs of pausesMs) {
      // eslint-disable-next-line project/no-sleep -- the time is faked
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      this.socket.bytesRead += bytes;
      yield pauseMs;
    }
    await new Promise(() => undefined);
  }
}

describe('a body that comes in pieces', () => {
  let sender: Sender;
  let stop: AbortController;

  beforeEach(() => {
    jest.useFakeTimers();
    sender = new Sender();
    stop = new AbortController();
  });
  afterEach(() => jest.useRealTimers());

  const limits = () => ({ longestPauseMs: LONGEST_PAUSE_MS, stopping: stop.signal });

  /** Collects the number of chunks read, and the error that ends reading. */
  function taking(pieces: AsyncGenerator<number>): { taken: number; code: string | null } {
    const result: { taken: number; code: string | null } = { taken: 0, code: null };
    const take = async (): Promise<void> => {
      for await (const piece of readUnlessStalled(sender, pieces, limits())) {
        result.taken += piece < 0 ? 0 : 1;
      }
    };
    take().catch((error: unknown) => {
      result.code = error instanceof ProblemError ? error.definition.code : String(error);
    });
    return result;
  }

  async function take(
    pieces: AsyncGenerator<number>,
    afterMs: number,
  ): Promise<{ taken: number; code: string | null }> {
    const result = taking(pieces);
    await jest.advanceTimersByTimeAsync(afterMs);
    return result;
  }

  it('may take any time while it makes progress', async () => {
    const slow = Array.from({ length: 100 }, () => LONGEST_PAUSE_MS - 1);
    expect(await take(sender.sendingAfter(slow), 100 * (LONGEST_PAUSE_MS - 1))).toEqual({
      taken: 100,
      code: null,
    });
  });

  it('is refused when nothing arrives', async () => {
    expect(await take(sender.sendingAfter([]), LONGEST_PAUSE_MS - 1)).toEqual({
      taken: 0,
      code: null,
    });
    expect(await take(sender.sendingAfter([10, 10]), LONGEST_PAUSE_MS + 21)).toEqual({
      taken: 2,
      code: 'request_timeout',
    });
  });

  it('is refused when it is too slow, after the longest pause', async () => {
    const drip = Array.from({ length: 10 }, () => LONGEST_PAUSE_MS - 1_000);
    expect(await take(sender.sendingAfter(drip, 1), 10 * LONGEST_PAUSE_MS)).toEqual({
      taken: 1,
      code: 'request_timeout',
    });
    const seconds = Array.from({ length: 200 }, () => 1_000);
    expect(await take(sender.sendingAfter(seconds, 400), 200_000)).toMatchObject({
      code: 'request_timeout',
    });
    expect(await take(sender.sendingAfter(seconds, 500), 200_000)).toEqual({
      taken: 200,
      code: null,
    });
  });

  it('continues while bytes arrive without a complete chunk', async () => {
    const bytes = setInterval(() => (sender.socket.bytesRead += 500), 1_000);
    const waiting = take(sender.sendingAfter([]), 10 * LONGEST_PAUSE_MS);
    expect(await waiting).toEqual({ taken: 0, code: null });
    clearInterval(bytes);
  });

  it('is refused when single bytes arrive without a complete chunk', async () => {
    const drip = setInterval(() => (sender.socket.bytesRead += 1), 1_000);
    const waiting = take(sender.sendingAfter([]), 2 * LONGEST_PAUSE_MS + 1);
    expect(await waiting).toEqual({ taken: 0, code: 'request_timeout' });
    clearInterval(drip);
  });

  it('does not count time in which no chunk is requested', async () => {
    const pieces = readUnlessStalled(sender, sender.sendingAfter([0, 0], 1), limits());
    const first = pieces.next();
    await jest.advanceTimersByTimeAsync(0);
    expect(await first).toMatchObject({ done: false });
    await jest.advanceTimersByTimeAsync(10 * LONGEST_PAUSE_MS);
    const second = pieces.next();
    await jest.advanceTimersByTimeAsync(0);
    expect(await second).toMatchObject({ done: false });
  });

  it('is refused at once when the process stops, or has stopped before', async () => {
    const waiting = taking(sender.sendingAfter([10]));
    await jest.advanceTimersByTimeAsync(20);
    stop.abort();
    await jest.advanceTimersByTimeAsync(0);
    expect(waiting).toEqual({ taken: 1, code: 'service_unavailable' });
    expect(await take(sender.sendingAfter([]), 0)).toEqual({
      taken: 0,
      code: 'service_unavailable',
    });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is read to its end while the process stops, if it has fully arrived', async () => {
    sender.complete = true;
    stop.abort();
    expect(await take(sender.sendingAfter([10, 10]), 20)).toEqual({ taken: 2, code: null });
  });

  it('is released when the reader stops early', async () => {
    let isOver = false;
    async function* endless(): AsyncGenerator<number> {
      try {
        for (;;) yield await Promise.resolve(1);
      } finally {
        isOver = true;
      }
    }
    const pieces = readUnlessStalled(sender, endless(), limits());
    await pieces.next();
    await pieces.return(undefined);
    expect(isOver).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });
});
