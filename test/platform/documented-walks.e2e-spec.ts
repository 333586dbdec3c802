import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { RunningService } from '../support/running-service';

const ROOT = join(__dirname, '../..');
const GUIDES = ['pricing', 'usage', 'subscriptions', 'entitlements', 'invoicing'];
const EXPECTED = /^# => (.*)$/gm;

/** Returns the shell blocks of a page, in order, except those that start or test the service. */
function walkOf(page: string): string {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.filter((block) => !/^(npm|createdb|TEST_DATABASE_URL)/.test(block)).join('\n');
}

describe('the walk of', () => {
  let database: TestDatabase;
  let service: RunningService;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await RunningService.start(database.url);
  });

  afterAll(async () => {
    await service.kill();
    await database.drop();
  });

  it.each(['README.md', ...GUIDES.map((guide) => `docs/${guide}.md`)])(
    '%s prints what the page shows, also when it is repeated',
    async (page) => {
      const walk = walkOf(page);
      const expected = [...walk.matchAll(EXPECTED)].map(([, line = '']) => line);
      expect(expected.length).toBeGreaterThan(4);
      for (let run = 0; run < 2; run += 1) {
        const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', walk], {
          env: { ...process.env, PORT: new URL(service.url).port },
        });
        const printed = stdout.split('\n');
        const shown = printed.filter((line) => expected.includes(line));
        expect({ shown, printed }).toEqual({ shown: expected, printed });
      }
    },
  );
});
