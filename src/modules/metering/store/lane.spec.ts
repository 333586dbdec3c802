import type { Appended, NotTried } from './append-result';
import { Lane } from './lane';

const STORED: Appended = { accepted: 1, missed: [] };

const write = (lane: Lane): Promise<Appended> =>
  new Promise((settle, fail) => lane.add({ events: [], known: null, settle, fail, tries: 0 }));

describe('a lane', () => {
  it('goes on after a request that nobody took', async () => {
    const answers: (Appended | NotTried)[] = ['busy', STORED];
    const lane = new Lane(
      (group) => Promise.resolve(group.map(() => answers.shift() ?? STORED)),
      () => {
        throw new Error('nobody takes it');
      },
    );
    // The first is a group of its own.
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
    const answered = await Promise.allSettled(Array.from({ length: 9 }, () => write(lane)));
    expect(answered.filter(({ status }) => status === 'rejected')).toHaveLength(8);
    expect(groups).toEqual([1, 8, 1, 1]);
  });
});
