import { ShortTurns } from './short-turns';

/** Lets the callbacks of resolved promises run. */
const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('short turns', () => {
  const started: string[] = [];
  const ends = new Map<string, () => void>();

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    started.length = 0;
    ends.clear();
  });

  afterEach(() => jest.useRealTimers());

  const running = (turns: ShortTurns, name: string, signal?: AbortSignal): Promise<string> =>
    turns.run(() => {
      started.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    }, signal);

  /** Lets the callbacks of resolved promises run, then time pass, and then these callbacks again. */
  async function after(ms: number): Promise<readonly string[]> {
    await nextRound();
    jest.advanceTimersByTime(ms);
    await nextRound();
    return started;
  }

  async function ended(name: string): Promise<readonly string[]> {
    ends.get(name)?.();
    return after(0);
  }

  it('pass from one piece of work to the next in the order of their arrival', async () => {
    const turns = new ShortTurns(2, 500, 1);
    const all = ['a', 'b', 'c', 'd'].map((name) => running(turns, name));
    expect(await after(499)).toEqual(['a', 'b']);
    expect(await ended('b')).toEqual(['a', 'b', 'c']);
    expect(await ended('a')).toEqual(['a', 'b', 'c', 'd']);
    await ended('c');
    await ended('d');
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('pass on from work that takes long, of which a bounded number runs on', async () => {
    const turns = new ShortTurns(1, 500, 2);
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => running(turns, name));
    expect(await after(500)).toEqual(['a', 'b']);
    expect(await after(500)).toEqual(['a', 'b', 'c']);
    expect(await after(10_000)).toEqual(['a', 'b', 'c']);
    expect(await ended('a')).toEqual(['a', 'b', 'c', 'd']);
    // The turn of the third piece had passed on, so its end gives no other turn.
    expect(await ended('c')).toEqual(['a', 'b', 'c', 'd']);
    expect(await after(500)).toEqual(['a', 'b', 'c', 'd', 'e']);
    for (const name of ['b', 'd', 'e']) await ended(name);
    await Promise.all(all);
    expect(await turns.run(() => Promise.resolve('free'))).toBe('free');
  });

  it('pass on once from work that ends while it waits to run on', async () => {
    const turns = new ShortTurns(1, 500, 1);
    const all = ['a', 'b', 'c', 'd'].map((name) => running(turns, name));
    await after(500);
    expect(await after(500)).toEqual(['a', 'b']);
    expect(await ended('b')).toEqual(['a', 'b', 'c']);
    expect(await ended('a')).toEqual(['a', 'b', 'c']);
    expect(await ended('c')).toEqual(['a', 'b', 'c', 'd']);
    await ended('d');
    await Promise.all(all);
  });

  it('are kept until the end if no work may run on', async () => {
    const turns = new ShortTurns(1, 500, 0);
    const all = ['a', 'b'].map((name) => running(turns, name));
    expect(await after(500)).toEqual(['a']);
    expect(await ended('a')).toEqual(['a', 'b']);
    await ended('b');
    await Promise.all(all);
  });

  it('end with work that fails, and are not taken by work that stops waiting', async () => {
    const turns = new ShortTurns(1, 500, 1);
    const first = running(turns, 'a');
    const waits = new AbortController();
    const given = expect(running(turns, 'b', waits.signal)).rejects.toThrow('no longer');
    waits.abort(new Error('no longer'));
    await given;
    await ended('a');
    await first;
    await expect(turns.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    const thrown = turns.run(() => {
      throw new Error('at once');
    });
    await expect(thrown).rejects.toThrow('at once');
    expect(await turns.run(() => Promise.resolve('yes'))).toBe('yes');
  });
});
