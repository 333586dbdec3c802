import { startTestApp } from './test-app';

/**
 * A service in a process of its own, on a database and at a time that its parent names; tests kill it. Started with
 * `run-ts.cjs`; tells its parent where it listens over IPC.
 */
export interface ListeningMessage {
  readonly url: string;
}

async function main([databaseUrl = '', now = '']: readonly string[]): Promise<void> {
  const service = await startTestApp({ databaseUrl });
  service.clock.set(now);
  const message: ListeningMessage = { url: await service.app.getUrl() };
  process.on('disconnect', () => process.exit());
  process.send?.(message);
}

void main(process.argv.slice(2));
