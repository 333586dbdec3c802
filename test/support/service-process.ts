import { startTestApp } from './test-app';

/**
 * Runs a service in a process of its own, which tests can kill. The arguments are a database and an instant. Started
 * with `run-ts.cjs`; sends its address over IPC.
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
