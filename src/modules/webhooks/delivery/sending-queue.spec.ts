import { type Sending, SendingQueue } from './sending-queue';

const MEGABYTE = 1_048_576;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the queue of notifications to send', () => {
  let queue: SendingQueue;
  let started: string[];
  /** Functions that end the notifications in flight, by name. */
  let inFlight: Map<string, () => void>;
  let ended: string[];

  beforeEach(() => {
    queue = new SendingQueue();
    started = [];
    inFlight = new Map();
    ended = [];
  });

  function add(name: string, { endpointId = 'A', ...values }: Partial<Sending> = {}): void {
    const defaults = { bytes: 1_000, endpoints: 2, startBefore: Infinity };
    const send = (): Promise<void> =>
      new Promise((resolve) => {
        started.push(name);
        inFlight.set(name, resolve);
      });
    void queue.run({ ...defaults, ...values, endpointId }, send).then(() => ended.push(name));
  }

  async function end(name: string): Promise<void> {
    inFlight.get(name)?.();
    await nextTurn();
    await nextTurn();
  }

  it('starts small ones at once, and as many bytes in a turn of the event loop as other work can wait for', async () => {
    for (let n = 1; n <= 1_000; n += 1) add(`small ${n}`);
    await Promise.resolve();
    expect(started).toHaveLength(1_000);
    await nextTurn();
    for (const name of ['a', 'b', 'c']) add(name, { bytes: 3 * MEGABYTE });
    for (const name of ['d', 'e']) add(name, { bytes: MEGABYTE / 2 });
    await Promise.resolve();
    const afterTurns: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      afterTurns.push(started.slice(1_000).join(''));
      await nextTurn();
    }
    expect(afterTurns).toEqual(['a', 'ab', 'abc', 'abcde']);
  });

  it('starts no more to an endpoint than its share of 64 MB, in their order, and any size if nothing is in flight', async () => {
    for (const name of ['a', 'b', 'c']) add(name, { bytes: 15 * MEGABYTE });
    add('huge', { bytes: 40 * MEGABYTE });
    add('small');
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(started).toEqual(['a', 'b']);
    await end('a');
    expect(started).toEqual(['a', 'b', 'c']);
    await end('b');
    expect(started).toHaveLength(3);
    await end('c');
    expect(started).toEqual(['a', 'b', 'c', 'huge']);
    await end('huge');
    expect(started.at(-1)).toBe('small');
  });

  it('lets no endpoint wait for the large ones of another', async () => {
    for (const name of ['a', 'b']) add(name, { bytes: 40 * MEGABYTE });
    await nextTurn();
    add('c', { endpointId: 'B' });
    await nextTurn();
    expect(started).toEqual(['a', 'c']);
  });

  it('goes on after one that fails', async () => {
    const failing = queue.run(
      { endpointId: 'A', bytes: 40 * MEGABYTE, endpoints: 2, startBefore: Infinity },
      () => Promise.reject(new Error('no')),
    );
    add('next', { bytes: 40 * MEGABYTE });
    await expect(failing).rejects.toThrow('no');
    await nextTurn();
    expect(started).toEqual(['next']);
  });

  it('sends none whose turn comes too late, and none that waits when it is stopped', async () => {
    add('a', { bytes: 40 * MEGABYTE });
    add('late', { startBefore: performance.now() - 1 });
    add('waiting');
    await nextTurn();
    expect([started, ended]).toEqual([['a'], ['late']]);
    queue.stop();
    await nextTurn();
    expect(ended).toEqual(['late', 'waiting']);
    add('later');
    add('other', { endpointId: 'B' });
    await end('a');
    expect(started).toEqual(['a', 'other']);
    expect(ended).toEqual(['late', 'waiting', 'later', 'a']);
  });
});
