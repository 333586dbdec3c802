import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { SystemClock } from '../../src/platform/clock/clock';
import { ClockCheck } from '../../src/platform/processes';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { bearing, BOOTSTRAP_KEY, WITH_KEYS } from '../support/keys';
import { RunningService } from '../support/running-service';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const OFFSET = join(__dirname, '../support/clock-offset.cjs');

const DAY_MS = 86_400_000;

/** Returns the created object. */
async function post(service: RunningService, path: string, body: object): Promise<{ id: string }> {
  const answer = await service.post(path, body);
  expect(answer.status).toBe(201);
  return (await answer.json()) as { id: string };
}

describe("a process whose clock is compared with the database's", () => {
  let database: TestDatabase;
  /** A process without due work whose clock is right. */
  let right: RunningService;

  beforeAll(async () => {
    database = await createTestDatabase();
    right = await RunningService.start(database.url, { ROLE: 'api' });
  });

  afterAll(async () => {
    await right.kill();
    await database.drop();
  });

  const createCustomer = () => post(right, '/v1/customers', { name: 'Ada Lovelace' });

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

  const startWithOffset = (
    offsetMs: number,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<RunningService> =>
    RunningService.start(database.url, {
      ...environment,
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --require=${JSON.stringify(OFFSET)}`,
      CLOCK_OFFSET_MS: String(offsetMs),
    });

  it('is not ready when it is 7.5 s ahead, reports the reason, and does no due work', async () => {
    const service = await startWithOffset(7_500);
    try {
      // The first comparison is uncertain if a busy machine answers late. It is repeated every 2 s.
      await until('the reason has the exact difference', async () => {
        const ready = await service.get('/health/ready');
        expect(ready.status).toBe(503);
        return /^The clock of this process is 7\.[45] s ahead of the clock of the database/.test(
          ((await ready.json()) as { detail: string }).detail,
        );
      });
      await until('the metric has the exact difference', async () => {
        const metrics = await (await service.get('/metrics')).text();
        return /^clock_offset_seconds 7\.[45]/m.test(metrics);
      });
      expect((await service.get('/health/live')).status).toBe(200);

      await createCustomer();
      expect(await waiting()).toBe(1);
      await service.kill();
      // The control: another process with a correct clock does the work at once.
      const worker = await startWithOffset(0);
      await until('the event is dispatched', async () => (await waiting()) === 0);
      await worker.kill();
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

  it.each([-31, 31])('does nothing twice for a key when it is off by %d days', async (days) => {
    const service = await startWithOffset(days * DAY_MS);
    const name = `Grace Hopper ${days}`;
    const send = (to: RunningService) =>
      to.post('/v1/customers', { name }, { 'Idempotency-Key': name });
    try {
      const [first, second] = days < 0 ? [service, right] : [right, service];
      const statuses = [(await send(first)).status, (await send(second)).status];
      expect(statuses.sort()).toEqual([201, 503]);
      const again = await send(right);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      const { data } = (await (await service.get('/v1/customers')).json()) as {
        readonly data: readonly { readonly name: string }[];
      };
      expect(data.filter((customer) => customer.name === name)).toHaveLength(1);
    } finally {
      await service.kill();
    }
  });

  it('ends no grants when it is 14 days ahead, not even by a check', async () => {
    const { id } = await createCustomer();
    await post(right, '/v1/entitlements', { key: 'seats', name: 'Seats', type: 'metered' });
    const path = `/v1/customers/${id}/entitlements/seats`;
    const expires_at = new Date(Date.now() + 10 * DAY_MS).toISOString();
    await post(right, `${path}/grants`, { value: '100', expires_at });
    const service = await startWithOffset(14 * DAY_MS);
    try {
      const consume = { quantity: '5', idempotency_key: 'ahead' };
      expect((await service.post(`${path}/consume`, consume)).status).toBe(503);
      const check = await service.get(path);
      expect(check.status).toBe(503);
      expect(await check.json()).toMatchObject({ code: 'service_unavailable' });
    } finally {
      await service.kill();
    }
    expect(await (await right.get(path)).json()).toMatchObject({ remaining: '100' });
  });

  it('refuses changes, not credentials that are valid, when it is 14 days ahead', async () => {
    const expires_at = new Date(Date.now() + 10 * DAY_MS).toISOString();
    const key = { name: 'Short', scopes: ['customers:read', 'customers:write'], expires_at };
    const created = await right.post('/v1/api-keys', key);
    expect(created.status).toBe(201);
    const { secret } = (await created.json()) as { readonly secret: string };
    const service = await startWithOffset(14 * DAY_MS, WITH_KEYS);
    try {
      const name = 'Ada Lovelace';
      const change = await service.post('/v1/customers', { name }, bearing(secret));
      expect(change.status).toBe(503);
      expect((await service.get('/v1/customers', bearing(secret))).status).toBe(503);
      for (let times = 0; times < 2; times += 1) {
        expect((await service.get('/v1/customers', bearing(BOOTSTRAP_KEY))).status).toBe(200);
      }
    } finally {
      await service.kill();
    }
    const { data } = (await (await right.get('/v1/api-keys')).json()) as {
      readonly data: readonly { readonly last_used_at: string | null }[];
    };
    expect(data.map((listed) => listed.last_used_at)).toEqual([null, null]);
  });

  describe('while it runs', () => {
    let engine: TestApp;
    /** Number of runs of the dispatcher that have begun and not ended. */
    let runs = 0;

    beforeEach(async () => {
      const runDue = Reflect.get(EventDispatcher.prototype, 'runDue');
      jest.spyOn(EventDispatcher.prototype, 'runDue').mockImplementation(function (
        this: EventDispatcher,
      ) {
        runs += 1;
        return runDue.call(this).finally(() => (runs -= 1));
      });
      engine = await startTestApp({
        databaseUrl: database.url,
        environment: { ROLE: 'all', LOG_LEVEL: 'fatal' },
      });
    });

    afterEach(async () => {
      jest.restoreAllMocks();
      await engine.close();
    });

    /** Waits until no run is left that began with the present clock, and could dispatch a later event. */
    const untilDispatched = () =>
      until('earlier events are dispatched', async () => (await waiting()) === 0 && runs === 0);

    const readiness = async (): Promise<number> => (await engine.http.get('/health/ready')).status;

    const change = async (): Promise<number> =>
      (await engine.http.post('/v1/customers').send({ name: 'Ada Lovelace' })).status;

    it('refuses changes from the instant its clock is set wrong until it is right again', async () => {
      expect(await change()).toBe(201);
      const wrong = jest
        .spyOn(SystemClock.prototype, 'now')
        .mockImplementation(() => new Date(Date.now() + 40 * DAY_MS));
      expect(await readiness()).toBe(503);
      expect(await change()).toBe(503);
      expect((await engine.http.get('/v1/customers')).status).toBe(200);
      wrong.mockRestore();
      await until('changes are accepted again', async () => (await change()) === 201);
      expect(await readiness()).toBe(200);
    });

    it('refuses no change when its monotonic clock stood still, as in a suspended machine', async () => {
      engine.app.get(ClockCheck).maxWaitMs = 30_000;
      const monotonic = performance.now.bind(performance);
      jest.spyOn(performance, 'now').mockImplementation(() => monotonic() - 3_600_000);
      expect(await change()).toBe(201);
    });

    it('recalculates a balance for a check after its clock was set right', async () => {
      const key = `seats_${Date.now()}`;
      const { http } = engine;
      await http.post('/v1/entitlements').send({ key, name: 'Seats', type: 'metered' }).expect(201);
      const { id } = await createCustomer();
      engine.app.get(ClockCheck).maxWaitMs = 30_000;
      const monotonic = performance.now.bind(performance);
      jest.spyOn(performance, 'now').mockImplementation(() => monotonic() - 3_600_000);
      await http.get(`/v1/customers/${id}/entitlements/${key}`).expect(200);
    });

    it('accepts changes soon after the clock of the database is set right, and logs its fault once', async () => {
      const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
      const monotonic = performance.now.bind(performance);
      const wrong = jest
        .spyOn(SystemClock.prototype, 'now')
        .mockImplementation(() => new Date(Date.now() - 60_000));
      await until('it knows that its clock is behind', async () => {
        const { body } = await engine.http.get('/health/ready');
        return ((body as { readonly detail?: string }).detail ?? '').includes('behind');
      });
      await engine.app.get(ClockCheck).check();
      // Neither clock of the process is set: their difference stays the same.
      wrong.mockRestore();
      jest.spyOn(performance, 'now').mockImplementation(() => monotonic() + 60_000);
      await until('changes are accepted again', async () => (await change()) === 201);
      expect(error).toHaveBeenCalledTimes(1);
    });

    it('stops its due work when its clock falls behind, and continues when it is correct again', async () => {
      await untilDispatched();
      expect(await readiness()).toBe(200);
      const wrong = jest
        .spyOn(SystemClock.prototype, 'now')
        .mockImplementation(() => new Date(Date.now() - 60_000));
      await engine.app.get(ClockCheck).check();
      expect(await readiness()).toBe(503);
      await createCustomer();
      expect(await waiting()).toBe(1);
      wrong.mockRestore();
      await engine.app.get(ClockCheck).check();
      expect(await readiness()).toBe(200);
      await until('the event is dispatched', async () => (await waiting()) === 0);
    });

    it('does no due work after its clock jumped ahead, even before the next regular comparison', async () => {
      await untilDispatched();
      const wrong = jest
        .spyOn(SystemClock.prototype, 'now')
        .mockImplementation(() => new Date(Date.now() + 40 * DAY_MS));
      await createCustomer();
      await until('the jump is noticed', async () => (await readiness()) === 503);
      expect(await waiting()).toBe(1);
      wrong.mockRestore();
      await engine.app.get(ClockCheck).check();
      expect(await readiness()).toBe(200);
      await until('the event is dispatched', async () => (await waiting()) === 0);
    });

    it('continues at once if its monotonic clock stood still, as in a suspended machine', async () => {
      await untilDispatched();
      const monotonic = performance.now.bind(performance);
      jest.spyOn(performance, 'now').mockImplementation(() => monotonic() - 3_600_000);
      await createCustomer();
      await until('the event is dispatched', async () => (await waiting()) === 0);
      expect(await readiness()).toBe(200);
    });
  });
});
