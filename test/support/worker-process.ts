import { Jobs } from '../../src/platform/jobs';
import { startTestApp } from './test-app';

/**
 * Runs a worker in a process of its own, which tests can kill. The arguments are a database and an instant. Started
 * with `run-ts.cjs`; exchanges messages over IPC.
 */
export interface TimeMessage {
  readonly now: string;
}

async function main([databaseUrl = '', now = '']: readonly string[]): Promise<void> {
  const worker = await startTestApp({
    databaseUrl,
    environment: { ROLE: 'worker', WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' },
  });
  worker.clock.set(now);
  const jobs = worker.app.get(Jobs);
  process.on('message', (message: TimeMessage) => {
    worker.clock.set(message.now);
    for (const name of ['dispatch-events', 'webhook-deliveries']) jobs.wake(name);
  });
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

void main(process.argv.slice(2));
