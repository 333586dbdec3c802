import type { Request, Response } from 'express';
import { ProblemError } from '../errors';
import { withinBodyTime } from './body-time';

describe('a body', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** Receives one piece of a body each second; the last one is not the end. Returns after how many seconds it is refused. */
  async function secondsUntilRefused(...pieces: readonly number[]): Promise<number | null> {
    const socket = { bytesRead: 500 };
    const response = { setHeader: () => undefined, once: () => undefined };
    let refusal: unknown = null;
    const read = withinBodyTime(() => undefined);
    await read(
      { socket } as unknown as Request,
      response as unknown as Response,
      (error: unknown) => {
        refusal = error;
      },
    );
    // So that each check falls between two pieces.
    await jest.advanceTimersByTimeAsync(1);
    for (let seconds = 1; seconds <= 200; seconds += 1) {
      socket.bytesRead += pieces[seconds - 1] ?? 0;
      await jest.advanceTimersByTimeAsync(1_000);
      if (refusal === null) continue;
      expect(refusal).toBeInstanceOf(ProblemError);
      expect(refusal).toMatchObject({ definition: { code: 'request_timeout' } });
      return seconds;
    }
    return null;
  }

  it('of which nothing arrives is refused after 10 s, whatever length it has', async () => {
    expect(await secondsUntilRefused()).toBe(10);
  });

  it('gets a second more for each 10 kB that has arrived', async () => {
    expect(await secondsUntilRefused(20_000, 10_000)).toBe(13);
  });

  it('may take any time at 10 kB per second', async () => {
    expect(await secondsUntilRefused(...Array<number>(200).fill(10_000))).toBeNull();
  });
});
