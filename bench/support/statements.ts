import { setTimeout as pause } from 'node:timers/promises';
import { startWorker } from './channel';
import { freePort, serviceEnvironment, untilReady } from './service';
import type { TemporaryDatabase } from './temporary-database';

/** A statement as the service handed it to `pg`. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Of a prepared statement. */
  readonly name?: string;
  /** How many rows it returned or changed; null for those that have no such number. */
  readonly rowCount: number | null;
}

export interface Recorder {
  readonly url: string;
  /** What the service sends to the database for one request. */
  recordOf(request: () => Promise<unknown>): Promise<readonly Statement[]>;
  stop(): Promise<void>;
}

/** Longer than the wake-up of other processes is held back. */
const SETTLING_MS = 200;

/** A service that writes down its statements, and does nothing in the background. What it sends is the ceiling's work. */
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
      // The first time it may read what it keeps from then on.
      await request();
      await pause(SETTLING_MS);
      await worker.ask('take');
      await request();
      const statements = await worker.ask('take');
      // Sent once for many requests, and after the answer of this one.
      return statements.filter(({ text }) => !text.includes('pg_notify'));
    },
    stop: () => worker.stop(),
  };
}
