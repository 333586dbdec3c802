import { join } from 'node:path';
import { Client } from 'pg';
import { SystemClock } from '../../src/platform/clock/clock';
import { ClockCheck } from '../../src/platform/processes';
import { createCustomer } from '../support/billing';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { RunningService } from '../support/running-service';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const OFFSET = join(__dirname, '../support/clock-offset.cjs');

describe("a process whose clock is compared with the database's", () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database.drop());

  async function waiting(): Promise<number> {
    const observer = new Client({ connectionString: database.url });
    await observer.connect();
    try {
      const { rows } = await observer.query('SELECT event_id FROM event_dispatch');
      return rows.length;
    } finally {
      await observer.end();
    }
  }

  const startWithOffset = (offsetMs: number): Promise<RunningService> =>
    RunningService.start(database.url, {
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --require=${JSON.stringify(OFFSET)}`,
      CLOCK_OFFSET_MS: String(offsetMs),
    });

  it('is not ready when it is 7.5 s ahead, reports the reason, and does no due work', async () => {
    const service = await startWithOffset(7_500);
    try {
      const ready = await service.get('/health/ready');
      expect(ready.status).toBe(503);
      expect(((await ready.json()) as { detail: string }).detail).toMatch(
        /^The clock of this process is 7\.[45] s ahead of the clock of the database/,
      );
      const metrics = await (await service.get('/metrics')).text();
      expect(metrics).toMatch(/^clock_offset_seconds 7\.[45]/m);
      expect((await service.get('/health/live')).status).toBe(200);

      await service.post('/v1/customers', { name: 'Ada Lovelace' });
      expect(await waiting()).toBe(1);
      await service.kill();
      // The control: another process with a correct clock does the work at once.
      const right = await startWithOffset(0);
      await until('the event is dispatched', async () => (await waiting()) === 0);
      await right.kill();
    } finally {
      await service.kill();
    }
  });

  it('is ready when it is 3 s behind', async () => {
    const service = await startWithOffset(-3_000);
    try {
      expect((await service.get('/health/ready')).status).toBe(200);
    } finally {
      await service.kill();
    }
  });

  describe('while it runs', () => {
    let engine: TestApp;

    beforeEach(async () => {
      engine = await startTestApp({
        databaseUrl: database.url,
        environment: { ROLE: 'all', LOG_LEVEL: 'fatal' },
      });
    });

    afterEach(async () => {
      jest.restoreAllMocks();
      await engine.close();
    });

    const readiness = async (): Promise<number> => (await engine.http.get('/health/ready')).status;

    it('stops its due work when its clock falls behind, and continues when it is correct again', async () => {
      await until('earlier events are dispatched', async () => (await waiting()) === 0);
      expect(await readiness()).toBe(200);
      const wrong = jest
        .spyOn(SystemClock.prototype, 'now')
        .mockImplementation(() => new Date(Date.now() - 60_000));
      await engine.app.get(ClockCheck).check();
      expect(await readiness()).toBe(503);
      await createCustomer(engine);
      expect(await waiting()).toBe(1);
      wrong.mockRestore();
      await engine.app.get(ClockCheck).check();
      expect(await readiness()).toBe(200);
      await until('the event is dispatched', async () => (await waiting()) === 0);
    });

    it('does no due work after its clock jumped ahead, even before the next regular comparison', async () => {
      await until('earlier events are dispatched', async () => (await waiting()) === 0);
      const wrong = jest
        .spyOn(SystemClock.prototype, 'now')
        .mockImplementation(() => new Date(Date.now() + 40 * 86_400_000));
      await createCustomer(engine);
      await until('the jump is noticed', async () => (await readiness()) === 503);
      expect(await waiting()).toBe(1);
      wrong.mockRestore();
      await engine.app.get(ClockCheck).check();
      expect(await readiness()).toBe(200);
      await until('the event is dispatched', async () => (await waiting()) === 0);
    });

    it('continues at once if its monotonic clock stood still, as in a suspended machine', async () => {
      await until('earlier events are dispatched', async () => (await waiting()) === 0);
      const monotonic = performance.now.bind(performance);
      jest.spyOn(performance, 'now').mockImplementation(() => monotonic() - 3_600_000);
      await createCustomer(engine);
      await until('the event is dispatched', async () => (await waiting()) === 0);
      expect(await readiness()).toBe(200);
    });
  });
});
