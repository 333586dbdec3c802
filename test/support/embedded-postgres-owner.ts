import { createInterface } from 'node:readline';
import { startEmbeddedPostgres, startEphemeralPostgres } from '../../packages/embedded-postgres';

/**
 * Runs an embedded server in a process of its own that tests can interrupt and kill. Argument: a directory, or
 * `ephemeral`. Writes one JSON object per event, and stops when it reads `stop`.
 */
async function own(directory: string): Promise<void> {
  const say = (event: Record<string, unknown>): void => {
    process.stdout.write(`${JSON.stringify(event)}\n`);
  };
  process.on('SIGINT', () => {
    say({ event: 'interrupted' });
  });
  const options = {
    database: 'engine',
    log: (message: string) => {
      say({ event: 'log', message });
    },
  };
  const server = await (directory === 'ephemeral'
    ? startEphemeralPostgres(options)
    : startEmbeddedPostgres({ ...options, directory, settings: { fsync: 'off' } }));
  const { connectionString, takenOver } = server;
  say({ event: 'ready', connectionString, takenOver });

  for await (const line of createInterface(process.stdin)) {
    if (line === 'stop') break;
  }
  await server.stop();
  say({ event: 'stopped' });
}

void own(process.argv[2] ?? 'ephemeral');
