import { runAsBatch } from './run-as-batch';

describe('a batch of work', () => {
  let done: (readonly string[])[];
  let failures: string[];

  beforeEach(() => {
    done = [];
    failures = [];
  });

  const doAll = (items: readonly string[], poisoned: string | null, halts = false) =>
    runAsBatch(
      items,
      (some) => {
        if (poisoned !== null && some.includes(poisoned)) return Promise.reject(new Error('no'));
        done.push(some);
        return Promise.resolve();
      },
      {
        onBatchFailure: () => failures.push('together'),
        onItemFailure: (error, item) => {
          failures.push(item);
          if (halts) throw error;
        },
      },
    );

  it('runs once when nothing fails', async () => {
    await doAll(['a', 'b', 'c'], null);
    expect([done, failures]).toEqual([[['a', 'b', 'c']], []]);
  });

  it('runs item by item after a failure, without the failing item', async () => {
    await doAll(['a', 'b', 'c'], 'b');
    expect([done, failures]).toEqual([
      [['a'], ['c']],
      ['together', 'b'],
    ]);
  });

  it('stops at the first failing item when the handler throws', async () => {
    await expect(doAll(['a', 'b', 'c'], 'b', true)).rejects.toThrow('no');
    expect([done, failures]).toEqual([[['a']], ['together', 'b']]);
  });

  it('runs once for a single item, and not at all for none', async () => {
    await doAll(['b'], 'b');
    await doAll([], 'b');
    expect([done, failures]).toEqual([[], ['b']]);
  });
});
