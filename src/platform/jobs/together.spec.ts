import { together } from './together';

describe('work that is done together', () => {
  let done: (readonly string[])[];
  let told: string[];

  beforeEach(() => {
    done = [];
    told = [];
  });

  const doAll = (pieces: readonly string[], poisoned: string | null, halts = false) =>
    together(
      pieces,
      (some) => {
        if (poisoned !== null && some.includes(poisoned)) return Promise.reject(new Error('no'));
        done.push(some);
        return Promise.resolve();
      },
      {
        together: () => told.push('together'),
        alone: (error, piece) => {
          told.push(piece);
          if (halts) throw error;
        },
      },
    );

  it('is one piece of work', async () => {
    await doAll(['a', 'b', 'c'], null);
    expect([done, told]).toEqual([[['a', 'b', 'c']], []]);
  });

  it('is done one by one where that fails, but for what cannot be done', async () => {
    await doAll(['a', 'b', 'c'], 'b');
    expect([done, told]).toEqual([
      [['a'], ['c']],
      ['together', 'b'],
    ]);
  });

  it('is given up at the first failure where that is said', async () => {
    await expect(doAll(['a', 'b', 'c'], 'b', true)).rejects.toThrow('no');
    expect([done, told]).toEqual([[['a']], ['together', 'b']]);
  });

  it('is tried once where it is one piece, or none', async () => {
    await doAll(['b'], 'b');
    await doAll([], 'b');
    expect([done, told]).toEqual([[], ['b']]);
  });
});
