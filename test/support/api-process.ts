import { startTestApp } from './test-app';

/**
 * Runs an engine in a process of its own, on the given database. The engine answers HTTP requests; the process sends
 * the URL over IPC.
 */
async function main([databaseUrl = '']: readonly string[]): Promise<void> {
  const engine = await startTestApp({ databaseUrl });
  process.on('disconnect', () => process.exit());
  process.send?.(await engine.app.getUrl());
}

void main(process.argv.slice(2));
