import { OutcomeUnknownError } from '../../../platform/database';
import type { AppendOutcome, NotShared, NotTried } from './append-outcome';
import { FastPathRequest } from './fast-path-request';
import { type OnNotShared, type QueuedRequest, WriteQueue } from './write-queue';

const STORED: AppendOutcome = { accepted: 1, notStored: [] };

const write = (queue: WriteQueue): Promise<AppendOutcome> => queue.enqueue([], null);

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a write queue', () => {
  it('continues after a request that fails to be taken over', async () => {
    const answers: (AppendOutcome | NotTried)[] = ['busy', STORED];
    const queue = new WriteQueue(
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
    const queue = new WriteQueue(
      (group) =>
        group.length > 1 ? Promise.reject(new Error('one of them')) : Promise.resolve([STORED]),
      () => undefined,
    );
    expect(await Promise.all([write(queue), write(queue), write(queue)])).toEqual([
      STORED,
      STORED,
      STORED,
    ]);
  });

  describe('with a request that waits too long for a lock', () => {
    const timeout = Object.assign(new Error('lock timeout'), { code: '55P03' });

    /**
     * Returns the outcomes of requests of these customers that are written together, and what was written: the customers
     * of each group, with `!` if it should not wait. A write with customer A waits too long.
     */
    const writeTogether = async (customers: string, onNotShared: OnNotShared | null) => {
      const groups: string[] = [];
      const waiting = new Set<string | undefined>();
      const customerOf = ({ events }: QueuedRequest) => events[0]?.customerId;
      const takeOver = (request: QueuedRequest, reason: NotShared) => {
        waiting.add(customerOf(request));
        return onNotShared?.(request, reason);
      };
      const write: ConstructorParameters<typeof WriteQueue>[0] = (group, hasTimedOut) => {
        const names = group.map(customerOf).join('');
        groups.push(hasTimedOut ? `${names}!` : names);
        return names.includes('A')
          ? Promise.reject(timeout)
          : Promise.resolve(group.map(() => STORED));
      };
      const queue = new WriteQueue(write, onNotShared && takeOver, 1, (request) =>
        waiting.has(customerOf(request)),
      );
      const sent = [...customers].map((customerId, index) =>
        queue.enqueue(
          [
            {
              index: 0,
              idempotencyKey: `${index}`,
              customerId,
              eventName: 'call',
              timestamp: new Date(0),
              properties: {},
            },
          ],
          null,
        ),
      );
      const settled = await Promise.allSettled(sent);
      const outcomes = settled.map((one): unknown => ('value' in one ? one.value : one.reason));
      return { groups, outcomes };
    };

    it('stores the others, and passes on that request and those of its stream', async () => {
      const waited: AppendOutcome = { accepted: 1, notStored: [] };
      const reasons: unknown[] = [];
      const { groups, outcomes } = await writeTogether('BAACA', ({ resolve }, reason) => {
        reasons.push(reason);
        resolve(waited);
      });
      expect(outcomes.map((one) => (one === waited ? 'waited' : one))).toEqual([
        STORED,
        'waited',
        'waited',
        STORED,
        'waited',
      ]);
      expect(groups).toEqual(['BAACA', 'BA!', 'B!', 'A!', 'C!']);
      expect(reasons).toEqual(['timeout', 'timeout', 'timeout']);
    });

    it('passes on a request that is alone', async () => {
      const { groups, outcomes } = await writeTogether('A', ({ resolve }) => resolve(STORED));
      expect([groups, outcomes]).toEqual([['A'], [STORED]]);
    });

    it('stores most of the others together', async () => {
      const { groups } = await writeTogether('BCDEFAGHIJKLMNOP', ({ resolve }) => resolve(STORED));
      expect(groups.slice(1)).toEqual(['BCDE!', 'FAGH!', 'F!', 'A!', 'G!', 'H!', 'IJKL!', 'MNOP!']);
    });

    it('passes on a request of a stream that waits already, untried', async () => {
      const groups: number[] = [];
      const reasons: NotShared[] = [];
      const queue = new WriteQueue(
        (group) => {
          groups.push(group.length);
          return Promise.resolve(group.map(() => STORED));
        },
        ({ resolve }, reason) => {
          reasons.push(reason);
          resolve(STORED);
        },
        1,
        () => groups.length > 0,
      );
      const first = [write(queue), write(queue)];
      await turn();
      await Promise.all([...first, write(queue)]);
      expect([groups, reasons]).toEqual([[2], ['timeout']]);
    });

    it('tries few of the requests of a stream if many would wait', async () => {
      const { groups, outcomes } = await writeTogether('A'.repeat(100), null);
      expect(groups.length).toBeLessThan(12);
      expect(outcomes).toEqual(Array.from({ length: 100 }, () => timeout));
    });

    it('tries each request of a stream, and rejects only those that would wait', async () => {
      const { groups, outcomes } = await writeTogether('ABA', null);
      expect(groups).toEqual(['ABA', 'A!', 'B!', 'A!']);
      expect(outcomes).toEqual([timeout, STORED, timeout]);
    });

    it('rejects a request of a stream that is locked when it is tried alone', async () => {
      const queue = new WriteQueue(
        (group) => (group.length > 1 ? Promise.reject(timeout) : Promise.resolve(['busy'])),
        null,
      );
      expect(await Promise.allSettled([write(queue), write(queue)])).toEqual([
        { status: 'rejected', reason: timeout },
        { status: 'rejected', reason: timeout },
      ]);
    });

    it('rejects a request of which a part may be stored', async () => {
      const unknown = new OutcomeUnknownError(timeout);
      const queue = new WriteQueue(
        () => Promise.reject(unknown),
        ({ resolve }) => resolve(STORED),
      );
      await expect(write(queue)).rejects.toBe(unknown);
    });
  });

  describe('stays with requests that were taken over', () => {
    /** Returns a queue that has passed a request to `onNotShared`, which returned `taken`. */
    const writing = async (taken: Promise<void>) => {
      const queue = new WriteQueue(
        () => Promise.resolve<NotTried[]>(['busy']),
        ({ resolve }) => {
          resolve(STORED);
          return taken;
        },
      );
      await write(queue);
      await turn();
      return queue;
    };
    const untilIdle = async (queue: WriteQueue): Promise<void> => {
      while (!queue.isIdle) await turn();
    };

    it('until they are stored', async () => {
      let end = (): void => undefined;
      const queue = await writing(new Promise((resolve) => (end = resolve)));
      expect(queue.isIdle).toBe(false);
      end();
      await turn();
      expect(queue.isIdle).toBe(true);
    });

    it('or for a short time', async () => {
      const queue = await writing(new Promise(() => undefined));
      expect(queue.isIdle).toBe(false);
      await untilIdle(queue);
    });

    it('not if taking them over fails', async () => {
      await untilIdle(await writing(Promise.reject(new Error('a defect'))));
    });
  });

  it('is idle once all requests are answered', async () => {
    const queue = new WriteQueue(
      (group) => Promise.resolve(group.map(() => STORED)),
      () => undefined,
    );
    const answered = write(queue);
    expect(queue.isIdle).toBe(false);
    await Promise.resolve();
    expect(queue.isIdle).toBe(false);
    await answered;
    await turn();
    expect(queue.isIdle).toBe(true);
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
      const queue = new WriteQueue(
        async (group) => {
          groups.push(group.map(({ fastPath }) => fastPath?.streams[0]?.cached.id).join(' '));
          onStart();
          await new Promise<void>((resolve) => inFlight.push(resolve));
          return group.map(() => STORED);
        },
        () => undefined,
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
