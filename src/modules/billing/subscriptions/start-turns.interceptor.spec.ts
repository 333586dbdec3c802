import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import { from, lastValueFrom, NEVER, of, type Observable } from 'rxjs';
import { Configuration } from '../../../platform/config';
import { StartTurnsInterceptor } from './start-turns.interceptor';

/** Lets the callbacks of resolved promises run. */
const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('turns of starts', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it('are waited for up to 20 seconds', async () => {
    const turns = new StartTurnsInterceptor(new Configuration({ DATABASE_POOL_SIZE: '2' }));
    const context = new ExecutionContextHost([{ query: {} }]);
    const run = (work: Observable<unknown>): Promise<unknown> =>
      lastValueFrom(from(turns.intercept(context, { handle: () => work })));
    // One runs on after its turn, and one keeps its turn.
    for (const blocked of [run(NEVER), run(NEVER)]) void blocked;
    await nextRound();
    jest.advanceTimersByTime(500);
    await nextRound();
    const third = run(of('third')).catch((error: unknown) => error);
    await nextRound();
    jest.advanceTimersByTime(19_999);
    expect(await Promise.race([third, nextRound().then(() => 'waits')])).toBe('waits');
    jest.advanceTimersByTime(1);
    expect(await third).toMatchObject({ definition: { code: 'service_unavailable' } });
  });
});
