import type { OnBusy } from '../store/usage-streams';
import type { AppendOutcome, NotShared } from './append-outcome';
import { until } from '../../../../test/support/until';
import { type Append, StreamQueues } from './stream-queues';
import type { QueuedRequest } from './write-queue';

const STORED: AppendOutcome = { accepted: 1, notStored: [] };
const TIMEOUT = Object.assign(new Error('lock timeout'), { code: '55P03' });

describe('queues of streams', () => {
  /** Writes in progress. */
  let writes: { customers: string; onBusy: OnBusy; end: (error?: Error) => void }[];
  let queues: StreamQueues;
  let answers: string[];

  beforeEach(() => {
    writes = [];
    answers = [];
    queues = new StreamQueues(append, 4);
  });

  const append: Append = (group, onBusy) => {
    const customers = group.map(customersOf).join(' ');
    return new Promise((resolve, reject) => {
      const end = (error?: Error) =>
        error === undefined ? resolve(group.map(() => STORED)) : reject(error);
      writes.push({ customers, onBusy, end });
    });
  };

  const customersOf = ({ events }: QueuedRequest) =>
    events.map(({ customerId }) => customerId).join('');

  /** Returns a request with one event for each of the customers. */
  const requestOf = (customers: string): QueuedRequest => ({
    events: [...customers].map((customerId, index) => ({
      index,
      idempotencyKey: `${customerId}-${index}`,
      customerId,
      eventName: 'call',
      timestamp: new Date(0),
      properties: {},
    })),
    fastPath: null,
    resolve: () => answers.push(customers),
    reject: () => answers.push(`${customers} rejected`),
    retries: 0,
  });

  const turn = () => new Promise((resolve) => setImmediate(resolve));

  async function add(customers: string, reason: NotShared = 'timeout'): Promise<void> {
    queues.add(requestOf(customers), reason);
    await turn();
  }

  /** Ends the first write in progress. Returns its customers, and how it treated locks. */
  async function end(error?: Error): Promise<string> {
    const write = writes.shift();
    write?.end(error);
    await turn();
    return `${write?.customers} ${write?.onBusy}`;
  }

  const inProgress = () => writes.map(({ customers }) => customers);
  const isBlocked = (customers: string) => queues.isBlocked(requestOf(customers));

  it('take later requests of a stream until its events are stored', async () => {
    expect(isBlocked('A')).toBe(false);
    await add('A');
    await add('BC');
    expect(['A', 'AD', 'CB', 'B', 'D'].map(isBlocked)).toEqual([true, true, true, false, false]);
    await end();
    await end();
    expect(['A', 'AD', 'CB'].map(isBlocked)).toEqual([false, false, false]);
  });

  it('do not take later requests of a stream that was only locked', async () => {
    await add('A', 'busy');
    expect(isBlocked('A')).toBe(false);
  });

  it('forget that a stream was blocked once its requests were refused', async () => {
    await add('A');
    await end(TIMEOUT);
    expect(answers).toEqual(['A rejected']);
    await until('the queue is idle', () => !isBlocked('A'));
    for (const customer of 'BCDE') await add(customer);
    await add('A', 'busy');
    expect(inProgress()).toEqual(['B', 'C', 'D', 'E', 'A']);
    expect(isBlocked('A')).toBe(false);
  });

  it('let requests of a stream share a commit', async () => {
    for (const customers of ['A', 'A', 'AA', 'AB', 'A']) await add(customers);
    expect(inProgress()).toEqual(['A']);
    await end();
    expect(inProgress()).toEqual(['A AA AB A']);
  });

  it('let requests that meet a stream of a blocked request wait behind it', async () => {
    await add('AB');
    await add('B', 'busy');
    expect(queues.isHeld(requestOf('BC'))).toBe(true);
    expect(queues.isHeld(requestOf('C'))).toBe(false);
    expect(inProgress()).toEqual(['AB']);
    await end();
    expect(inProgress()).toEqual(['B']);
  });

  it('leave connections to requests whose streams were only locked', async () => {
    for (const customer of 'ABCDE') await add(customer);
    await add('F', 'busy');
    expect(inProgress()).toEqual(['A', 'B', 'C', 'D', 'F']);
  });

  it('can share a smaller number of connections, of which blocked ones do not use all', async () => {
    queues = new StreamQueues(append, 2, 1, 2);
    for (const customer of 'AB') await add(customer);
    for (const customer of 'CDE') await add(customer, 'busy');
    expect(inProgress()).toEqual(['A', 'C']);
    await end();
    expect(inProgress()).toEqual(['C', 'D']);
    for (let ends = 0; ends < 4; ends += 1) await end();
    expect(answers.toSorted()).toEqual(['A', 'B', 'C', 'D', 'E']);
  });

  it('try requests again without waiting for other queues', async () => {
    queues.add(requestOf('A'), 'timeout');
    for (const customer of 'ABCDEF') await add(customer);
    expect(inProgress()).toEqual(['A A', 'B', 'C', 'D']);
    expect(await end(TIMEOUT)).toBe('A A wait');
    expect(inProgress()).toEqual(['B', 'C', 'D', 'E', 'A']);
    writes.unshift(...writes.splice(4, 1));
    expect(await end(TIMEOUT)).toBe('A hurry');
    writes.unshift(...writes.splice(4, 1));
    expect(await end()).toBe('A hurry');
    expect(answers).toEqual(['A rejected', 'A']);
  });
});
