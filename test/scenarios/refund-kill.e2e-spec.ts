import fc from 'fast-check';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { RunningService } from '../support/running-service';
import { SEED } from '../support/seed';
import { until } from '../support/until';

/**
 * Kills the service with refunds in flight and sends all of them again: to the restarted service, or to another process
 * on the same database. The short form always runs; `CAMPAIGN=full` kills twenty times. `SEED` repeats a run.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const KILLS = FULL ? 20 : 2;
const REFUNDS = 60;
const TIMES = 3;
const AMOUNT = 10_000;
/**
 * Time limit of a retry, from readiness, or from the death of the process if another one runs. On a slow machine the limit is
 * {@link MAX_SLOWDOWN} times as long as the same refunds take without a kill.
 */
const ANSWERED_WITHIN_MS = 5_000;
const MAX_SLOWDOWN = 4;
const TIME_LIMIT_MS = FULL ? 900_000 : 180_000;

describe('refunds in flight when the process is killed', () => {
  let database: TestDatabase;
  let monitor: Client;
  let service: RunningService;
  const started: RunningService[] = [];

  async function start(
    environment: Readonly<Record<string, string>> = {},
  ): Promise<RunningService> {
    const one = await RunningService.start(database.url, environment);
    started.push(one);
    return one;
  }

  beforeAll(async () => {
    process.stdout.write(`refund kills: ${KILLS}, SEED=${SEED}\n`);
    database = await createTestDatabase();
    monitor = new Client({ connectionString: database.url });
    await monitor.connect();
    service = await start();
  });

  afterAll(async () => {
    for (const one of started) await one.kill();
    await monitor.end();
    await database.drop();
  });

  async function idOf(answer: Response): Promise<string> {
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { id: string }).id;
  }

  async function countOf(sql: string): Promise<number> {
    const { rows } = await monitor.query<{ count: number }>(sql);
    return rows[0]?.count ?? 0;
  }

  const left = (): Promise<number> =>
    countOf(`SELECT count(*)::int AS count FROM refund WHERE status = 'pending'`);

  /** Creates payments of which each is refunded by several requests, half of them on one and the same payment. */
  async function paymentsFor(refunds: number): Promise<readonly string[]> {
    const customer = await idOf(await service.post('/v1/customers', { name: 'Ada Lovelace' }));
    const order = { customer_id: customer, amount: AMOUNT * refunds, currency: 'USD' };
    const pay = async (): Promise<string> => idOf(await service.post('/v1/payments', order));
    const shared = await pay();
    const payments: string[] = [];
    for (let index = 0; index < refunds; index += 1) {
      payments.push(index % 2 === 0 ? shared : await pay());
    }
    return payments;
  }

  const refund = (by: RunningService, payment: string, key: string): Promise<Response> =>
    by.post(`/v1/refunds/payment/${payment}`, { amount: AMOUNT, idempotencyKey: key });

  /**
   * Sends refunds concurrently and kills the service after a number of answers; returns how many refunds are left
   * pending.
   */
  async function killAmid(
    payments: readonly string[],
    round: string,
    after: number,
  ): Promise<number> {
    const victim = service;
    let answers = 0;
    await Promise.all(
      payments.map(async (payment, index) => {
        const answer = await refund(victim, payment, `${round}-${index}`).catch(() => null);
        if (answer !== null && (answers += 1) === after) await victim.kill();
      }),
    );
    await victim.kill();
    return left();
  }

  /** Sends a refund again until its key is no longer in use, as clients do. Each request waits for the key. */
  async function retry(payment: string, key: string): Promise<Response> {
    for (;;) {
      const answer = await refund(service, payment, key);
      if (answer.status !== 409 || !answer.headers.has('Retry-After')) return answer;
    }
  }

  /** Sends all of them again; returns how long the slowest took since the given instant. */
  async function retryAll(
    payments: readonly string[],
    round: string,
    since: number,
  ): Promise<number> {
    const answers = await Promise.all(
      payments.map(async (payment, index) => {
        const answer = await retry(payment, `${round}-${index}`);
        const { status } = (await answer.json()) as { status: string };
        return { http: answer.status, status, tookMs: performance.now() - since };
      }),
    );
    const kinds = new Set(answers.map(({ http, status }) => `${http} ${status}`));
    expect([...kinds]).toEqual(['201 succeeded']);
    return Math.max(...answers.map(({ tookMs }) => tookMs));
  }

  async function expectEachOnce(payments: readonly string[], round: string): Promise<void> {
    const refunds = `FROM refund WHERE idempotency_key LIKE '${round}-%' AND status = 'succeeded'`;
    expect(await countOf(`SELECT count(*)::int AS count ${refunds}`)).toBe(payments.length);
    const given = await countOf(`
      SELECT sum(amount_refunded)::int AS count FROM payment
      WHERE id IN (SELECT payment_id ${refunds})`);
    expect(given).toBe(AMOUNT * payments.length);
    const books = (await (await service.get('/v1/ledger/verify')).json()) as { ok: boolean };
    expect(books.ok).toBe(true);
  }

  /** Returns how long the slowest of these refunds takes without a kill. */
  async function timeWithoutKill(round: string): Promise<number> {
    const payments = await paymentsFor(REFUNDS);
    return retryAll(payments, `calm-${round}`, performance.now());
  }

  /**
   * Repeats a kill if its retries took too long, because that also depends on what else the machine does. Each refund must
   * have been made once every time.
   */
  async function expectQuickRetries(
    kill: (payments: readonly string[], round: string) => Promise<number>,
    name: string,
  ): Promise<void> {
    let isQuick = false;
    for (let time = 0; time < TIMES && !isQuick; time += 1) {
      const round = `${name}-${time}`;
      const payments = await paymentsFor(REFUNDS);
      const since = await kill(payments, round);
      const slowestMs = await retryAll(payments, round, since);
      const calmMs = await timeWithoutKill(round);
      const figures = `${Math.round(slowestMs)} ms, without a kill ${Math.round(calmMs)} ms`;
      process.stdout.write(`${round}: the slowest retry took ${figures}\n`);
      isQuick = slowestMs < Math.max(ANSWERED_WITHIN_MS, MAX_SLOWDOWN * calmMs);
      await expectEachOnce(payments, round);
    }
    expect(isQuick).toBe(true);
  }

  it(
    'are finished by the restarted service: each retry is answered within seconds of readiness',
    async () => {
      const moments = fc.sample(fc.integer({ min: 1, max: 20 }), { seed: SEED, numRuns: KILLS });
      let inFlight = 0;
      for (const [kill, after] of moments.entries()) {
        await expectQuickRetries(async (payments, round) => {
          inFlight += await killAmid(payments, round, after);
          service = await start();
          return service.readyAt;
        }, `restart-${kill}`);
      }
      // Otherwise nothing was tested.
      expect(inFlight).toBeGreaterThan(0);
    },
    TIME_LIMIT_MS,
  );

  it(
    'are finished by another process: each retry is answered within seconds of the kill',
    async () => {
      await expectQuickRetries(async (payments, round) => {
        const other = await start();
        await killAmid(payments, round, 5);
        const killedAt = performance.now();
        service = other;
        return killedAt;
      }, 'other');
      await until('nothing is pending', async () => (await left()) === 0);
    },
    TIME_LIMIT_MS,
  );
});
