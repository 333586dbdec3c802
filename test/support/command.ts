import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

export interface EndedCommand {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface CommandOptions {
  /** If absent, the command uses the embedded database. */
  readonly databaseUrl?: string;
  readonly input?: string;
  /** Environment variables in addition to those of all commands. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a command, as {@link runCommand} does, with its input still open. */
export function spawnCommand(
  command: 'keys' | 'studio' | 'migrate' | 'main',
  words: readonly string[],
  { databaseUrl, environment = {} }: Omit<CommandOptions, 'input'>,
): ChildProcessWithoutNullStreams {
  return spawn(
    process.execPath,
    [join(ROOT, 'test/support/run-ts.cjs'), join(ROOT, `src/${command}.ts`), ...words],
    {
      env: {
        ...process.env,
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
        ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
        ...environment,
      },
    },
  );
}

/**
 * Runs a command until it ends, and returns its output. `main` is the service itself: give it settings with which it
 * cannot start.
 */
export function runCommand(
  command: Parameters<typeof spawnCommand>[0],
  words: readonly string[],
  { input = '', ...options }: CommandOptions,
): Promise<EndedCommand> {
  const child = spawnCommand(command, words, options);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
}
