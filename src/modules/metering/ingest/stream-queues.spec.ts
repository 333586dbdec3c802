import type { OnBusy } from '../store/usage-streams';
import type { AppendOutcome, FastPathOutcome, NotShared } from './append-outcome';
import { StreamQueues } from './stream-queues';
import type { QueuedRequest } from './write-apart';

const STORED: AppendOutcome = { accepted: 1, notStored: [] };
const TIMEOUT = Object.assign(new Error('lock timeout'), { code: '55P03' });

describe('waiting queues', () => {
  let queues: StreamQueues;
  /** Customers whose streams are locked: others hold their row, or a key of their events. */
  let rows: Set<string>;
  let keys: Set<string>;
  /** Customers of each write, and its lock timeout. */
  let writes: string[];
  let inFlight: number;
  let mostInFlight: number;
  let answers: Map<string, string>;
  let startedAt: number;

  beforeEach(() => {
    jest.useFakeTimers();
    [rows, keys] = [new Set(), new Set()];
    [writes, answers] = [[], new Map()];
    [inFlight, mostInFlight] = [0, 0];
    startedAt = performance.now();
    queues = new StreamQueues(append);
  });

  afterEach(() => jest.useRealTimers());

  const customersOf = ({ events }: QueuedRequest) =>
    events.map(({ customerId }) => customerId).join('');

  /** Waits for locks as PostgreSQL does. */
  async function append(
    group: readonly QueuedRequest[],
    { rows: how, waitMs }: OnBusy,
  ): Promise<readonly FastPathOutcome[]> {
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    writes.push(`${group.map(customersOf).join(' ')} ${how} ${waitMs}`);
    const meets = (request: QueuedRequest, locked: Set<string>) =>
      [...customersOf(request)].some((customer) => locked.has(customer));
    const waits = () =>
      group.some(
        (request) =>
          (how === 'wait' && meets(request, rows)) ||
          (meets(request, keys) && !meets(request, rows)),
      );
    const until = performance.now() + (waitMs ?? Infinity);
    await untilTrue(() => !waits() || performance.now() >= until);
    inFlight -= 1;
    if (waits()) throw TIMEOUT;
    return group.map((request) => (meets(request, rows) ? 'busy' : STORED));
  }

  /** Looks each millisecond of the fake time. */
  const untilTrue = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const timer = setInterval(() => {
        if (!condition()) return;
        clearInterval(timer);
        resolve();
      }, 1);
    });
  const passTime = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  /** Returns a request with one event for each of the customers. */
  const requestOf = (customers: string): QueuedRequest => {
    const answer = (text: string) =>
      answers.set(customers, `${text} after ${Math.round(performance.now() - startedAt)}`);
    return {
      events: [...customers].map((customerId, index) => ({
        index,
        idempotencyKey: `${customerId}-${index}`,
        customerId,
        eventName: 'call',
        timestamp: new Date(0),
        properties: {},
      })),
      fastPath: null,
      resolve: () => answer('stored'),
      reject: () => answer('rejected'),
    };
  };

  const add = (customers: string, reason: NotShared = 'busy') =>
    queues.add(requestOf(customers), reason);
  const isBlocked = (customers: string) => queues.isBlocked(requestOf(customers));
  const answersAfter = (customers: string) => Number(answers.get(customers)?.split(' ')[2]);

  it('store requests together once their streams are free', async () => {
    rows.add('A');
    for (const customers of ['A', 'B', 'AC']) void add(customers);
    await passTime(50);
    expect([writes, answers.size]).toEqual([['A B AC wait 200'], 0]);
    rows.clear();
    await passTime(10);
    expect([...answers.keys()]).toEqual(['A', 'B', 'AC']);
  });

  it('store the others although one stream stays locked', async () => {
    rows.add('A');
    for (const customers of 'BACD') void add(customers);
    await passTime(250);
    expect([...answers.keys()]).toEqual(['B', 'C', 'D']);
  });

  it('refuse requests that wait too long, all at the same time', async () => {
    rows.add('A');
    keys.add('B');
    for (const customers of ['A', 'AA', 'AAA', 'AC', 'B', 'BB', 'BBB']) void add(customers);
    await passTime(4_900);
    expect(answers.size).toBe(0);
    await passTime(1_000);
    expect([...answers.values()].filter((answer) => answer.startsWith('rejected'))).toHaveLength(7);
    writes = [];
    rows.clear();
    await passTime(10_000);
    expect(writes).toEqual([]);
  });

  it('answer a stream soon after it is free, however many others stay locked', async () => {
    const names = Array.from({ length: 100 }, (_, at) => String.fromCodePoint(0x4e00 + at));
    for (const name of names) {
      rows.add(name);
      void add(name);
    }
    rows.add('A');
    void add('A');
    await passTime(1_500);
    expect(answers.size).toBe(0);
    rows.delete('A');
    await passTime(1_500);
    expect(answersAfter('A')).toBeLessThan(3_000);
    await passTime(4_000);
    expect([answers.size, mostInFlight]).toEqual([101, 1]);
    expect(Math.max(...names.map(answersAfter))).toBeLessThan(6_500);
  });

  it('reach each request although many keys of its stream stay locked', async () => {
    const names = Array.from({ length: 40 }, (_, at) => String.fromCodePoint(0x4e00 + at));
    for (const name of names) {
      keys.add(name);
      void add(name, 'timeout');
    }
    void add('A', 'timeout');
    await passTime(2_500);
    expect([...answers.keys()]).toEqual(['A']);
  });

  it('wait for a stream that others lock again and again', async () => {
    rows.add('A');
    rows.add('B');
    void add('A');
    void add('B');
    await passTime(1_000);
    // Free for 2 ms at a time.
    for (let times = 0; times < 40 && !answers.has('B'); times += 1) {
      rows.delete('B');
      await passTime(2);
      rows.add('B');
      await passTime(30);
    }
    expect(answers.get('B')).toContain('stored');
  });

  it('take later requests of a blocked stream until its events are stored', async () => {
    keys.add('A').add('B');
    expect(isBlocked('A')).toBe(false);
    void add('A', 'timeout');
    void add('BC', 'timeout');
    const asked = ['A', 'AD', 'CB', 'B', 'D'];
    expect(asked.map(isBlocked)).toEqual([true, true, true, false, false]);
    await passTime(1_000);
    expect(asked.map(isBlocked)).toEqual([true, true, true, false, false]);
    keys.clear();
    await passTime(1_000);
    expect(asked.map(isBlocked)).toEqual([false, false, false, false, false]);
  });

  it('do not take later requests of a stream that was only locked', async () => {
    rows.add('A');
    void add('A');
    await passTime(1_000);
    expect(isBlocked('A')).toBe(false);
  });

  it('state when a request was tried, unless it is likely to wait for long', async () => {
    const tried: string[] = [];
    void add('A')?.then(() => tried.push('A'));
    await passTime(50);
    expect(tried).toEqual(['A']);
    rows.add('A');
    void add('A')?.then(() => tried.push('again'));
    await passTime(50);
    expect(tried).toEqual(['A']);
    await passTime(200);
    expect(tried).toEqual(['A', 'again']);
    expect([add('A'), add('B', 'timeout')]).toEqual([undefined, undefined]);
  });
});
