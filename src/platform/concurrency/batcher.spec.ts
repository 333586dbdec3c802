import { Batcher, type BatchOutcome } from './batcher';

describe('a batcher', () => {
  let batches: (readonly string[])[];
  let release: (() => void)[];

  beforeEach(() => {
    batches = [];
    release = [];
  });

  const answer = (item: string): BatchOutcome<string> =>
    item === 'refused' ? { error: new Error(item) } : { answer: `${item}!` };

  /** Answers a batch once it is released; a batch with the item `poison` fails as a whole. */
  const answerAll = async (items: readonly string[]): Promise<readonly BatchOutcome<string>[]> => {
    batches.push(items);
    await new Promise<void>((resolve) => release.push(resolve));
    if (items.includes('poison')) throw new Error('poisoned');
    return items.map(answer);
  };

  const results = async (all: readonly Promise<string>[]): Promise<readonly string[]> => {
    const settled = Promise.allSettled(all);
    for (let turn = 0; turn < 50; turn += 1) {
      release.splice(0).forEach((go) => go());
      await Promise.resolve();
    }
    return (await settled).map((result) =>
      result.status === 'fulfilled' ? result.value : (result.reason as Error).message,
    );
  };

  it('answers items that arrive during a batch in the next one, in their order', async () => {
    const batcher = new Batcher(answerAll, { maxItems: 2 });
    const all = ['a', 'b', 'c', 'd'].map((item) => batcher.add(item));
    expect(await results(all)).toEqual(['a!', 'b!', 'c!', 'd!']);
    expect(batches).toEqual([['a'], ['b', 'c'], ['d']]);
    expect(await results([batcher.add('e')])).toEqual(['e!']);
  });

  it('waits shortly for about half of the callers that were just answered', async () => {
    const batcher = new Batcher(answerAll, { maxItems: 9, maxWaitForItemsMs: 20 });
    const first = ['a', 'b', 'c', 'd'].map((item) => batcher.add(item));
    expect(await results(first)).toEqual(['a!', 'b!', 'c!', 'd!']);
    const second = ['e', 'f', 'g'].map((item) => batcher.add(item));
    expect(await results(second)).toEqual(['e!', 'f!', 'g!']);
    expect(batches).toEqual([['a'], ['b', 'c', 'd'], ['e', 'f', 'g']]);
  });

  it('starts the next batch before it delivers the answers of the last one', async () => {
    const batcher = new Batcher(answerAll, { maxItems: 9 });
    const seen: number[] = [];
    const all = ['a', 'b', 'c'].map((item) => batcher.add(item));
    void all[0]?.then(() => seen.push(batches.length));
    expect(await results(all)).toEqual(['a!', 'b!', 'c!']);
    expect(seen).toEqual([2]);
  });

  it('refuses one item without the others', async () => {
    const batcher = new Batcher(answerAll, { maxItems: 9 });
    const all = ['a', 'refused', 'c'].map((item) => batcher.add(item));
    expect(await results(all)).toEqual(['a!', 'refused', 'c!']);
  });

  it('fails all items of a batch that fails', async () => {
    const batcher = new Batcher(answerAll, { maxItems: 9 });
    const all = ['a', 'poison', 'c'].map((item) => batcher.add(item));
    expect(await results(all)).toEqual(['a!', 'poisoned', 'poisoned']);
  });

  it('answers the items of a failed batch one by one where that may help', async () => {
    const batcher = new Batcher(answerAll, { maxItems: 9, retriesEach: () => true });
    const all = ['a', 'poison', 'c'].map((item) => batcher.add(item));
    expect(await results(all)).toEqual(['a!', 'poisoned', 'c!']);
    expect(batches).toEqual([['a'], ['poison', 'c'], ['poison'], ['c']]);
  });

  it('does not let items of different keys wait for each other', async () => {
    const batcher = new Batcher(answerAll, { maxItems: 9 });
    const all = [batcher.add('a', 'x'), batcher.add('b', 'y'), batcher.add('c', 'x')];
    expect(await results(all)).toEqual(['a!', 'b!', 'c!']);
    expect(batches).toEqual([['a'], ['b'], ['c']]);
  });
});
