import { OutcomeUnknownError } from '../../../platform/database';
import type { OnBusy } from '../store/usage-streams';
import type { AppendOutcome, FastPathOutcome, NotShared } from './append-outcome';
import { type QueuedRequest, takeGroup, writeApart } from './write-apart';

const STORED: AppendOutcome = { accepted: 1, notStored: [] };
const TOGETHER: OnBusy = { rows: 'wait', waitMs: 200 };
const TIMEOUT = Object.assign(new Error('lock timeout'), { code: '55P03' });

interface Request extends QueuedRequest {
  readonly name: string;
}

describe('requests that are written together', () => {
  /** Names in each write, with `!` if it should not wait. */
  let writes: string[];
  /** Results of the requests. */
  let results: string[];

  beforeEach(() => {
    writes = [];
    results = [];
  });

  const requestOf = (name: string, events = 1): Request => ({
    name,
    events: Array.from({ length: events }, (_, index) => ({
      index,
      idempotencyKey: `${name}-${index}`,
      customerId: name,
      eventName: 'call',
      timestamp: new Date(0),
      properties: {},
    })),
    fastPath: null,
    resolve: ({ accepted }) => results.push(`${name} stored ${accepted}`),
    reject: (error) => results.push(`${name} rejected: ${(error as Error).message}`),
  });

  /** Writes requests with these names. Those of `isLeft` are left untried. */
  const write = (
    names: string,
    append: (names: string) => Error | readonly FastPathOutcome[] | null,
    isLeft: (name: string) => boolean = () => false,
  ): Promise<void> =>
    writeApart(
      [...names].map((name) => requestOf(name)),
      {
        append: (group, onBusy) => {
          const written = group.map(({ name }) => name).join('');
          writes.push(onBusy === TOGETHER ? written : `${written}!`);
          const outcome = append(written);
          if (outcome instanceof Error) return Promise.reject(outcome);
          return Promise.resolve(outcome ?? group.map(() => STORED));
        },
        onBusy: TOGETHER,
        isLeft: ({ name }) => isLeft(name),
        leave: ({ name, events }, reason: NotShared, timeout) =>
          results.push(`${name} ${reason} ${events.length}${timeout === null ? '' : ' alone'}`),
      },
    );

  const failWith = (failing: string, error: Error) => (names: string) =>
    names.includes(failing) ? error : null;

  it('are stored although one of them fails', async () => {
    await write('ABC', failWith('B', new Error('no')));
    expect(writes).toEqual(['ABC', 'A', 'B', 'C']);
    expect(results).toEqual(['A stored 1', 'B rejected: no', 'C stored 1']);
  });

  it('are left if they alone wait too long for a lock', async () => {
    await write('BAC', failWith('A', TIMEOUT));
    expect(writes).toEqual(['BAC', 'B!', 'A!', 'C!']);
    expect(results).toEqual(['B stored 1', 'A timeout 1 alone', 'C stored 1']);
  });

  it('are left if there is only one', async () => {
    await write('A', failWith('A', TIMEOUT));
    expect([writes, results]).toEqual([['A'], ['A timeout 1 alone']]);
  });

  it('are mostly stored together although one waits', async () => {
    await write('BCDEFAGHIJKLMNOP', failWith('A', TIMEOUT));
    expect(writes.slice(1)).toEqual(['BCDE!', 'FAGH!', 'F!', 'A!', 'G!', 'H!', 'IJKL!', 'MNOP!']);
  });

  it('are left untried once they would wait', async () => {
    await write('BAACA', failWith('A', TIMEOUT), (name) =>
      results.some((result) => name === 'A' && result.startsWith('A ')),
    );
    expect(writes).toEqual(['BAACA', 'BA!', 'B!', 'A!', 'C!']);
    expect(results).toEqual([
      'B stored 1',
      'A timeout 1 alone',
      'A timeout 1',
      'C stored 1',
      'A timeout 1',
    ]);
  });

  it('are left if they were skipped, in whole or in part', async () => {
    const [{ events: rest }] = [requestOf('C')];
    await write('ABC', () => ['busy', 'outdated', { stored: STORED, rest, reason: 'busy' }]);
    expect(results).toEqual(['A busy 1', 'B outdated 1', 'C busy 1']);
  });

  it.each(['AB', 'A'])('are rejected if they may be stored: %s', async (names) => {
    await write(names, failWith('A', new OutcomeUnknownError(TIMEOUT)));
    expect(writes).toEqual([names]);
    expect(results).toHaveLength(names.length);
    expect(results[0]).toContain('A rejected');
  });

  it('are rejected if they cannot be left', async () => {
    const requests = [requestOf('A'), requestOf('B')];
    await writeApart(requests, {
      append: () => Promise.resolve(['busy', STORED]),
      onBusy: TOGETHER,
      isLeft: () => false,
      leave: () => {
        throw new Error('a defect');
      },
    });
    expect(results).toEqual(['A rejected: a defect', 'B stored 1']);
  });

  it('fit into one statement', () => {
    const queue = [5_000, 3_000, 1_000, 1].map((events) => requestOf('A', events));
    const sizes = () => takeGroup(queue).map(({ events }) => events.length);
    expect([sizes(), sizes(), sizes(), sizes()]).toEqual([[5_000], [3_000, 1_000], [1], []]);
  });
});
