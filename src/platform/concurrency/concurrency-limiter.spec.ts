import { ConcurrencyLimiter } from './concurrency-limiter';

/** Lets the callbacks of resolved promises run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

describe('the concurrency limiter', () => {
  it('runs at most as many at once, in the order of arrival', async () => {
    const limiter = new ConcurrencyLimiter(2, 2);
    const started: string[] = [];
    const ends = new Map<string, () => void>();
    const run = (name: string) =>
      limiter.run(() => {
        started.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
    const all = ['a', 'b', 'c', 'd'].map(run);
    await settle();
    expect(started).toEqual(['a', 'b']);
    expect(limiter.isFull).toBe(true);
    ends.get('b')?.();
    await settle();
    expect(started).toEqual(['a', 'b', 'c']);
    expect(limiter.isFull).toBe(false);
    ends.get('a')?.();
    await settle();
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    ends.get('c')?.();
    ends.get('d')?.();
    await Promise.all(all);
  });

  it('goes on after work that fails', async () => {
    const limiter = new ConcurrencyLimiter(1);
    await expect(limiter.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await limiter.run(() => Promise.resolve('yes'))).toBe('yes');
  });

  it('gives up waiting when aborted, without losing a turn', async () => {
    const limiter = new ConcurrencyLimiter(1);
    const leave = await limiter.enter();
    const stop = new AbortController();
    const waiting = limiter.enter(stop.signal);
    stop.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    leave();
    leave();
    const again = await limiter.enter();
    expect(limiter.isFull).toBe(false);
    again();
  });

  it('ends the waiting for a turn after a time, and keeps the turns of others', async () => {
    const limiter = new ConcurrencyLimiter(1);
    const leave = await limiter.enter();
    const beside = await limiter.enterOrTimeOut(1);
    const started: string[] = [];
    const next = limiter.enterOrTimeOut(60_000).then((end) => {
      started.push('next');
      end();
    });
    beside();
    await settle();
    expect(started).toEqual([]);
    leave();
    await next;
    expect(started).toEqual(['next']);
    expect(await limiter.run(() => Promise.resolve('free'))).toBe('free');
  });
});
