import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { RunningService } from '../support/running-service';

const GUARD = join(__dirname, '../support/production-packages.cjs');
const run = promisify(execFile);

/** An installation without development dependencies, as by `npm ci --omit=dev` beside a compiled `dist`. */
describe('the service with production dependencies alone', () => {
  let made: TestDatabase;

  beforeAll(async () => {
    made = await createTestDatabase();
  });
  afterAll(() => made.drop());

  it('starts, and answers requests that load further packages', async () => {
    const service = await RunningService.start(made.url, {
      PACKAGES: 'installed',
      NODE_OPTIONS: `--require ${JSON.stringify(GUARD)}`,
    });
    try {
      expect((await service.get('/health/ready')).status).toBe(200);
      expect((await service.get('/docs')).status).toBe(200);
      const customer = await service.post('/v1/customers', { name: 'Ada', currency: 'USD' });
      const { id } = (await customer.json()) as { id: string };
      const lines = [{ description: 'Setup', amount: 100 }];
      const invoice = await service.post('/v1/invoices', { customer_id: id, lines });
      const { id: invoiceId } = (await invoice.json()) as { id: string };
      expect((await service.get(`/v1/invoices/${invoiceId}.pdf`)).status).toBe(200);
    } finally {
      await service.kill();
    }
  });

  it('is refused a development dependency', async () => {
    const requiring = run(process.execPath, ['--require', GUARD, '-e', 'require("fast-check")']);
    await expect(requiring).rejects.toThrow('is a development dependency');
  });
});
