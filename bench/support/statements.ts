import { setTimeout as pause } from 'node:timers/promises';
import { startWorker } from './channel';
import { freePort, serviceEnvironment, untilReady } from './service';
import type { TemporaryDatabase } from './temporary-database';

/** A statement as the service sent it through `pg`. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Name of a prepared statement. */
  readonly name?: string;
  /** Number of rows it returned or changed; null if the statement has none. */
  readonly rowCount: number | null;
}

export interface Recorder {
  readonly url: string;
  /** Returns the statements that the service sends for one request. */
  recordOf(request: () => Promise<unknown>): Promise<readonly Statement[]>;
  stop(): Promise<void>;
}

/**
 * Returns an idempotency key. All keys have the same length, because a recorded statement contains keys in a binary
 * list that states the length of each. So another key can replace one there.
 */
export const idempotencyKey = (purpose: 'recorded' | 'replayed', number: number): string =>
  `${purpose}-${String(number).padStart(12, '0')}`;

/** Pause before the recording. Longer than the delay after which the service tells other processes about due work. */
const SETTLING_MS = 200;

/** Starts a service that records its statements, so that they can be replayed. It does no work in the background. */
export async function startRecorder(database: TemporaryDatabase): Promise<Recorder> {
  const port = await freePort();
  const worker = startWorker<'take', readonly Statement[]>('recorded-service.ts', {
    environment: { ...serviceEnvironment(database, port), ROLE: 'api' },
    showsOutput: false,
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url, () => true);
  return {
    url,
    recordOf: async (request) => {
      // Sends the request once before, because the first one may fill caches of the service.
      await request();
      await pause(SETTLING_MS);
      await worker.request('take');
      await request();
      const statements = await worker.request('take');
      // Leaves out the notification of other processes, which the service sends once for many requests, after the response.
      return statements.filter(({ text }) => !text.includes('pg_notify'));
    },
    stop: () => worker.stop(),
  };
}
