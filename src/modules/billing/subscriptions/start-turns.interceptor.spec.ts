import { EventEmitter } from 'node:events';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import { defer, from, lastValueFrom, NEVER, of, type Observable } from 'rxjs';
import { Configuration } from '../../../platform/config';
import { Lifecycle } from '../../../platform/observability';
import { StartTurnsInterceptor } from './start-turns.interceptor';

/** Lets the callbacks of resolved promises run. */
const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('turns of starts', () => {
  let lifecycle: Lifecycle;
  let turns: StartTurnsInterceptor;

  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  function usePool(connections: number): void {
    lifecycle = new Lifecycle();
    const configuration = new Configuration({ DATABASE_POOL_SIZE: String(connections) });
    turns = new StartTurnsInterceptor(configuration, lifecycle);
  }

  async function run(work: Observable<unknown>, response = new EventEmitter()): Promise<unknown> {
    const context = new ExecutionContextHost([{ query: {} }, response]);
    return lastValueFrom(from(turns.intercept(context, { handle: () => work })));
  }

  /** Uses the only connection for starts of a pool of 6, and lets another start wait. Returns its outcome. */
  async function waitingStart(response?: EventEmitter): Promise<Promise<unknown>[]> {
    usePool(6);
    void run(NEVER);
    const outcome = run(of('started'), response).catch((error: unknown) => error);
    await nextRound();
    return [outcome];
  }

  const soon = (outcome: Promise<unknown> | undefined): Promise<unknown> =>
    Promise.race([outcome, nextRound().then(() => 'waits')]);

  const refusal = (reason: string) => ({
    definition: { code: 'service_unavailable' },
    occurrence: {
      detail: `${reason} This request stored nothing. Repeat it with the same idempotency key.`,
    },
  });

  it('are waited for up to 20 seconds', async () => {
    const [outcome] = await waitingStart();
    jest.advanceTimersByTime(19_999);
    expect(await soon(outcome)).toBe('waits');
    jest.advanceTimersByTime(1);
    expect(await soon(outcome)).toMatchObject(refusal('Too many subscriptions are being started.'));
  });

  it('are not waited for after the client has left', async () => {
    const response = new EventEmitter();
    const [outcome] = await waitingStart(response);
    response.emit('close');
    expect(await soon(outcome)).toMatchObject(refusal('The client has left.'));
    const left = Object.assign(new EventEmitter(), { closed: true });
    const [late] = await waitingStart(left);
    expect(await soon(late)).toMatchObject(refusal('The client has left.'));
  });

  it('are not waited for when the process stops', async () => {
    const [outcome] = await waitingStart();
    lifecycle.onModuleDestroy();
    expect(await soon(outcome)).toMatchObject(refusal('The service is stopping.'));
    const late = run(of('started')).catch((error: unknown) => error);
    expect(await soon(late)).toMatchObject(refusal('The service is stopping.'));
  });

  it('that are free are given while the process stops, and keep no timer or listener', async () => {
    usePool(6);
    lifecycle.onModuleDestroy();
    const response = new EventEmitter();
    expect(await run(of('started'), response)).toBe('started');
    expect(response.listenerCount('close')).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([
    [2, 1],
    [6, 1],
    [7, 2],
    [10, 3],
    [20, 6],
  ])('use of %d connections at most %d', async (connections, most) => {
    usePool(connections);
    let started = 0;
    const blocked = defer(() => {
      started += 1;
      return NEVER;
    });
    for (let sent = 0; sent < 10; sent += 1) run(blocked).catch(() => undefined);
    for (let turn = 0; turn < 10; turn += 1) {
      await nextRound();
      jest.advanceTimersByTime(500);
    }
    await nextRound();
    expect(started).toBe(most);
  });
});
