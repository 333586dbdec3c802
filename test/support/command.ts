import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

export interface EndedCommand {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run keys` or `npm run studio` on a database, and returns its output once it has ended. */
export function runCommand(
  command: 'keys' | 'studio',
  words: readonly string[],
  { databaseUrl, input = '' }: { readonly databaseUrl: string; readonly input?: string },
): Promise<EndedCommand> {
  const child = spawn(
    process.execPath,
    [join(ROOT, 'test/support/run-ts.cjs'), join(ROOT, `src/${command}.ts`), ...words],
    {
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
      },
    },
  );
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
}
