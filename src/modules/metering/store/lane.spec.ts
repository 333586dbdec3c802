import type { Appended, NotTried } from './append-result';
import { KnownRequest } from './known-request';
import { Lane } from './lane';

const STORED: Appended = { accepted: 1, missed: [] };

const write = (lane: Lane): Promise<Appended> => lane.put([], null);

describe('a lane', () => {
  it('goes on after a request that nobody took', async () => {
    const answers: (Appended | NotTried)[] = ['busy', STORED];
    const lane = new Lane(
      (group) => Promise.resolve(group.map(() => answers.shift() ?? STORED)),
      () => {
        throw new Error('nobody takes it');
      },
    );
    const answered = [write(lane), write(lane), write(lane)];
    expect(await Promise.allSettled(answered)).toEqual([
      { status: 'rejected', reason: new Error('nobody takes it') },
      { status: 'fulfilled', value: STORED },
      { status: 'fulfilled', value: STORED },
    ]);
    expect(await write(lane)).toEqual(STORED);
  });

  it('writes those of a group one by one if the group fails', async () => {
    const lane = new Lane(
      (group) =>
        group.length > 1 ? Promise.reject(new Error('one of them')) : Promise.resolve([STORED]),
      () => undefined,
    );
    expect(await Promise.all([write(lane), write(lane), write(lane)])).toEqual([
      STORED,
      STORED,
      STORED,
    ]);
  });

  it('gives up those of a group that waits in vain after two that do so alone', async () => {
    const timeout = Object.assign(new Error('lock timeout'), { code: '55P03' });
    const groups: number[] = [];
    const lane = new Lane(
      (group) => {
        groups.push(group.length);
        return groups.length > 1 ? Promise.reject(timeout) : Promise.resolve([STORED]);
      },
      () => undefined,
    );
    const first = write(lane);
    await Promise.resolve();
    const others = Array.from({ length: 8 }, () => write(lane));
    const answered = await Promise.allSettled([first, ...others]);
    expect(answered.filter(({ status }) => status === 'rejected')).toHaveLength(8);
    expect(groups).toEqual([1, 8, 1, 1]);
  });

  it('is idle once all who came are answered', async () => {
    const lane = new Lane(
      (group) => Promise.resolve(group.map(() => STORED)),
      () => undefined,
    );
    const answered = write(lane);
    expect(lane.isIdle).toBe(false);
    await Promise.resolve();
    expect(lane.isIdle).toBe(false);
    await answered;
    await new Promise((resolve) => setImmediate(resolve));
    expect(lane.isIdle).toBe(true);
  });

  describe('of two shares', () => {
    /** Of the stream with this number. */
    const requestOf = (stream: number, length: number): KnownRequest => {
      const events = Array.from({ length }, (_, index) => ({
        index,
        idempotencyKey: `${stream}-${index}`,
        customerId: `cus_${stream}`,
        eventName: 'call',
        timestamp: new Date(0),
        properties: {},
      }));
      const known = { id: String(stream), version: '1', plainFromMs: 0 };
      const [request] = KnownRequest.partsOf(events, 2, () => known, new Date(0)) ?? [];
      if (request === undefined) throw new Error('The events are plain.');
      return request;
    };

    /** A lane whose commits end when they are told to, and the streams of each. */
    const watched = () => {
      const groups: string[] = [];
      const underWay: (() => void)[] = [];
      let tell = (): void => undefined;
      const lane = new Lane(
        async (group) => {
          groups.push(group.map(({ known }) => known?.streams[0]?.id).join(' '));
          tell();
          await new Promise<void>((resolve) => underWay.push(resolve));
          return group.map(() => STORED);
        },
        () => undefined,
        2,
      );
      const put = (request: KnownRequest) => lane.put(request.events, request);
      const end = () => underWay.splice(0).forEach((endOne) => endOne());
      const begun = () => new Promise<void>((resolve) => (tell = resolve));
      return { groups, put, end, begun };
    };

    it('writes much of each at the same time', async () => {
      const { groups, put, end } = watched();
      const answered = [0, 1, 2, 3].map((stream) => put(requestOf(stream, 200)));
      await Promise.resolve();
      expect(groups).toEqual(['0 2', '1 3']);
      end();
      expect(await Promise.all(answered)).toEqual([STORED, STORED, STORED, STORED]);
    });

    it('writes little of both together', async () => {
      const { groups, put, end } = watched();
      const answered = [0, 1, 2, 3].map((stream) => put(requestOf(stream, 20)));
      await Promise.resolve();
      expect(groups).toEqual(['0 2 1 3']);
      end();
      expect(await Promise.all(answered)).toEqual([STORED, STORED, STORED, STORED]);
    });

    it('writes little once nothing is under way', async () => {
      const { groups, put, end, begun } = watched();
      const much = put(requestOf(0, 600));
      await Promise.resolve();
      const little = [1, 2].map((stream) => put(requestOf(stream, 20)));
      await Promise.resolve();
      expect(groups).toEqual(['0']);
      end();
      expect(await much).toEqual(STORED);
      await begun();
      expect(groups).toEqual(['0', '2 1']);
      end();
      expect(await Promise.all(little)).toEqual([STORED, STORED]);
    });
  });
});
