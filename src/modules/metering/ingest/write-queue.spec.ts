import type { AppendOutcome, FastPathOutcome, NotShared } from './append-outcome';
import { FastPathRequest } from './fast-path-request';
import type { Append } from './write-apart';
import { type OnNotShared, WriteQueue } from './write-queue';

const STORED: AppendOutcome = { accepted: 1, notStored: [] };

const queueOf = (
  append: Append,
  onNotShared: OnNotShared = () => undefined,
  isBlocked = () => false,
  shards = 1,
): WriteQueue => new WriteQueue(append, onNotShared, isBlocked, shards);

const write = (queue: WriteQueue): Promise<AppendOutcome> => queue.enqueue([], null);

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a write queue', () => {
  it('continues after a request that fails to be taken over', async () => {
    const answers: FastPathOutcome[] = ['busy', STORED];
    const queue = queueOf(
      (group) => Promise.resolve(group.map(() => answers.shift() ?? STORED)),
      () => {
        throw new Error('not taken over');
      },
    );
    const answered = [write(queue), write(queue), write(queue)];
    expect(await Promise.allSettled(answered)).toEqual([
      { status: 'rejected', reason: new Error('not taken over') },
      { status: 'fulfilled', value: STORED },
      { status: 'fulfilled', value: STORED },
    ]);
    expect(await write(queue)).toEqual(STORED);
  });

  it('writes the requests of a failed group one by one', async () => {
    const queue = queueOf((group) =>
      group.length > 1 ? Promise.reject(new Error('one of them')) : Promise.resolve([STORED]),
    );
    expect(await Promise.all([write(queue), write(queue), write(queue)])).toEqual([
      STORED,
      STORED,
      STORED,
    ]);
  });

  it('skips locked streams, and waits briefly for other locks', async () => {
    const treatments: unknown[] = [];
    const queue = queueOf((group, onBusy) => {
      treatments.push(onBusy);
      return Promise.resolve(group.map(() => STORED));
    });
    await write(queue);
    expect(treatments).toEqual([{ rows: 'skip', waitMs: 200 }]);
  });

  it('passes on a request of a stream that waits already, untried', async () => {
    const groups: number[] = [];
    const reasons: NotShared[] = [];
    const queue = queueOf(
      (group) => {
        groups.push(group.length);
        return Promise.resolve(group.map(() => STORED));
      },
      ({ resolve }, reason) => {
        reasons.push(reason);
        resolve(STORED);
        return undefined;
      },
      () => groups.length > 0,
    );
    const first = [write(queue), write(queue)];
    await turn();
    await Promise.all([...first, write(queue)]);
    expect([groups, reasons]).toEqual([[2], ['timeout']]);
  });

  describe('stays with requests that were taken over', () => {
    /** Returns the number of writes of a queue that has passed a request to `onNotShared`, which returned `taken`. */
    const writesAfter = async (taken: Promise<void>): Promise<() => number> => {
      let writes = 0;
      const queue = queueOf(
        () => Promise.resolve(++writes === 1 ? ['busy'] : [STORED]),
        ({ resolve }) => {
          resolve(STORED);
          return taken;
        },
      );
      await write(queue);
      void write(queue);
      await turn();
      return () => writes;
    };

    it('until they are tried', async () => {
      let end = (): void => undefined;
      const writes = await writesAfter(new Promise((resolve) => (end = resolve)));
      expect(writes()).toBe(1);
      end();
      await turn();
      expect(writes()).toBe(2);
    });

    it('or for a short time', async () => {
      const writes = await writesAfter(new Promise(() => undefined));
      expect(writes()).toBe(1);
      while (writes() < 2) await turn();
    });
  });

  describe('of two shards', () => {
    /** Returns a request of the stream with this number. */
    const requestOf = (stream: number, length: number): FastPathRequest => {
      const events = Array.from({ length }, (_, index) => ({
        index,
        idempotencyKey: `${stream}-${index}`,
        customerId: `cus_${stream}`,
        eventName: 'call',
        timestamp: new Date(0),
        properties: {},
      }));
      const cached = {
        id: String(stream),
        version: '1',
        openFromMs: 0,
        windowsEndMs: 0,
        sessionChanges: 0,
      };
      const [request] = FastPathRequest.split(events, 2, () => cached, new Date(0)).parts;
      if (request === undefined) throw new Error('The events are plain.');
      return request;
    };

    /** Returns a queue whose commits end on request, and the streams of each commit. */
    const watched = () => {
      const groups: string[] = [];
      const inFlight: (() => void)[] = [];
      let onStart = (): void => undefined;
      const queue = queueOf(
        async (group) => {
          groups.push(group.map(({ fastPath }) => fastPath?.streams[0]?.cached.id).join(' '));
          onStart();
          await new Promise<void>((resolve) => inFlight.push(resolve));
          return group.map(() => STORED);
        },
        () => undefined,
        () => false,
        2,
      );
      const put = (request: FastPathRequest) => queue.enqueue(request.events, request);
      const end = () => inFlight.splice(0).forEach((endOne) => endOne());
      const begun = () => new Promise<void>((resolve) => (onStart = resolve));
      return { groups, put, end, begun };
    };

    it('writes large groups of both concurrently', async () => {
      const { groups, put, end } = watched();
      const answered = [0, 1, 2, 3].map((stream) => put(requestOf(stream, 200)));
      await Promise.resolve();
      expect(groups).toEqual(['0 2', '1 3']);
      end();
      expect(await Promise.all(answered)).toEqual([STORED, STORED, STORED, STORED]);
    });

    it('writes small groups of both together', async () => {
      const { groups, put, end } = watched();
      const answered = [0, 1, 2, 3].map((stream) => put(requestOf(stream, 20)));
      await Promise.resolve();
      expect(groups).toEqual(['0 2 1 3']);
      end();
      expect(await Promise.all(answered)).toEqual([STORED, STORED, STORED, STORED]);
    });

    it('writes a small group once no commit is in flight', async () => {
      const { groups, put, end, begun } = watched();
      const much = put(requestOf(0, 600));
      await Promise.resolve();
      const little = [1, 2].map((stream) => put(requestOf(stream, 20)));
      await Promise.resolve();
      expect(groups).toEqual(['0']);
      const next = begun();
      end();
      expect(await much).toEqual(STORED);
      await next;
      expect(groups).toEqual(['0', '2 1']);
      end();
      expect(await Promise.all(little)).toEqual([STORED, STORED]);
    });
  });
});
