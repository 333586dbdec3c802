import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { RunningService } from '../support/running-service';

describe('a process with a file operation that hangs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hanging-'));
  let made: TestDatabase;

  beforeAll(async () => {
    made = await createTestDatabase();
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await made.drop();
  });

  it('ends after its stop did not end in time', async () => {
    // Opening a FIFO without a writer hangs, as any operation on a lost volume does.
    const fifo = join(folder, 'fifo');
    execFileSync('/usr/bin/mkfifo', [fifo]);
    const script = join(folder, 'hang.cjs');
    writeFileSync(script, `void require('node:fs').promises.open(${JSON.stringify(fifo)}, 'r');`);
    const service = await RunningService.start(made.url, {
      ROLE: 'api',
      LOG_LEVEL: 'info',
      SHUTDOWN_TIMEOUT_MS: '0',
      NODE_OPTIONS: `--require ${script}`,
    });
    try {
      // A process that SIGKILL ended has no exit code.
      expect(await service.stop()).toBeNull();
      expect(service.log().at(-1)).toMatchObject({ msg: 'stopped' });
    } finally {
      await service.kill();
    }
  });
});
