import type { Appended } from './append-result';
import { Lane } from './lane';

const STORED: Appended = { accepted: 1, missed: [] };

const write = (lane: Lane): Promise<Appended> =>
  new Promise((settle, fail) => lane.add({ events: [], known: null, settle, fail }));

describe('a lane', () => {
  it('goes on after a request that nobody took', async () => {
    const answers: (Appended | null)[] = [null, STORED];
    const lane = new Lane(
      (group) =>
        Promise.resolve(
          group.map(() => {
            const answer = answers.shift();
            return answer === undefined ? STORED : answer;
          }),
        ),
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
});
