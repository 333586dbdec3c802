import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { CouponsService } from '../../src/modules/coupons/coupons.service';
import { isVerified, type Received, type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';
import type { TimeMessage } from '../support/worker-process';

/**
 * Delivers every event to its endpoint, whatever happens: the receiver fails 30 % of the requests, workers are killed,
 * time moves, and secrets are rotated. The short form always runs; `npm run campaign:webhooks` runs the full one of
 * 20,000 events.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const EVENTS = FULL ? 20_000 : 300;
const KILLS = FULL ? 10 : 2;
const HOUR_MS = 3_600_000;
const TIME_LIMIT_MS = FULL ? 1_500_000 : 300_000;
const RUN_TS = join(__dirname, '../support/run-ts.cjs');
const WORKER = join(__dirname, '../support/worker-process.ts');

/** Returns a number from 0 to 1, pseudo-random and repeatable for a message and its attempt. */
function chanceOf(id: string, time: number): number {
  const digest = createHash('sha256').update(`${id}#${time}`).digest();
  return digest.readUInt32BE(0) / 2 ** 32;
}

class FlakyReceiver {
  readonly accepted = new Map<string, number>();
  readonly arrivals = new Map<string, number>();
  requests = 0;
  failures = 0;
  open = 0;
  unverified = 0;
  secrets: readonly string[] = [];

  constructor(readonly receiver: Receiver) {
    receiver.behave((received, response, request) => {
      this.requests += 1;
      this.verify(received);
      const time = (this.arrivals.get(received.id) ?? 0) + 1;
      this.arrivals.set(received.id, time);
      this.open += 1;
      response.once('close', () => {
        this.open -= 1;
      });
      const chance = chanceOf(received.id, time);
      // No message fails more than eight times in a row: the ninth and tenth attempt are left.
      if (chance >= 0.3 || time > 8) {
        this.accepted.set(received.id, (this.accepted.get(received.id) ?? 0) + 1);
        response.writeHead(200).end('ok');
        return;
      }
      this.failures += 1;
      if (chance < 0.1) response.writeHead(500).end('broken');
      else if (chance < 0.2) request.socket.destroy();
      else if (chance < 0.298) response.writeHead(429, { 'retry-after': '7' }).end();
      // Otherwise it hangs: no answer until the deadline.
    });
  }

  /** Verifies the signature with the current secret, or with the previous one after a rotation. */
  private verify(received: Received): void {
    const at = new Date(Number(received.headers['webhook-timestamp']) * 1_000);
    const good = this.secrets.slice(-2).some((secret) => isVerified(received, secret, at));
    if (!good) this.unverified += 1;
  }
}

class Workers {
  private readonly running = new Set<ChildProcess>();
  kills = 0;

  constructor(private readonly engine: TestApp) {}

  async start(count: number): Promise<void> {
    const now = this.engine.clock.now().toISOString();
    const started = Array.from({ length: count }, () => {
      const child = fork(RUN_TS, [WORKER, this.engine.databaseUrl, now], { stdio: 'inherit' });
      this.running.add(child);
      return new Promise<void>((resolve) => {
        child.once('message', () => {
          resolve();
        });
      });
    });
    await Promise.all(started);
  }

  setTime(now: Date): void {
    const message: TimeMessage = { now: now.toISOString() };
    for (const child of this.running) child.send(message);
  }

  async killOne(): Promise<void> {
    const [child] = this.running;
    if (child === undefined) return;
    this.running.delete(child);
    this.kills += 1;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    await this.start(1);
  }

  async stop(): Promise<void> {
    const ended = [...this.running].map((child) => {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      return exited;
    });
    await Promise.all(ended);
  }
}

describe.each([1, 2])('a delivery campaign with %i worker(s)', (workerCount) => {
  let engine: TestApp;
  let receiver: Receiver;
  let workers: Workers;

  beforeAll(async () => {
    engine = await startTestApp();
    receiver = await startReceiver();
    workers = new Workers(engine);
  });

  afterAll(async () => {
    await workers.stop();
    await receiver.close();
    await engine.close();
  });

  async function secretOf(endpoint: string): Promise<string> {
    const answer = await engine.http.get(`/v1/webhooks/endpoints/${endpoint}/secret`);
    return (answer.body as { secret: string }).secret;
  }

  async function recordEvents(count: number): Promise<void> {
    const coupons: string[] = [];
    for (let made = 0; made < 20; made += 1) {
      const answer = await engine.http
        .post('/v1/coupons')
        .send({ type: 'percent', percent_off: '10', duration: 'once' });
      coupons.push((answer.body as { id: string }).id);
    }
    const service = engine.app.get(CouponsService);
    for (let recorded = 0; recorded < count; recorded += coupons.length) {
      const isActive = (recorded / coupons.length) % 2 === 1;
      await Promise.all(coupons.map((id) => service.update(id, { isActive }, 'any')));
    }
  }

  interface State {
    readonly pending: number;
    readonly undispatched: number;
    /** Instant at which everything that is pending is due. */
    readonly next: Date | null;
  }

  async function state(): Promise<State> {
    const [row] = await engine.database.query<State>(`
      SELECT (SELECT count(*)::int FROM webhook_delivery WHERE status = 'pending') AS pending,
        (SELECT count(*)::int FROM event_dispatch) AS undispatched,
        (SELECT max(due_at) FROM webhook_delivery WHERE status = 'pending') AS next`);
    if (row === undefined) throw new Error('No state.');
    return row;
  }

  it(
    'delivers every event under its own id',
    async () => {
      const flaky = new FlakyReceiver(receiver);
      const created = await engine.http
        .post('/v1/webhooks/endpoints')
        .send({ url: receiver.url, events: ['coupon.updated'] });
      const endpoint = (created.body as { id: string }).id;
      flaky.secrets = [await secretOf(endpoint)];
      await recordEvents(EVENTS);
      await workers.start(workerCount);

      const steps = KILLS + 1;
      let quietSince = 0;
      let requestsBefore = -1;
      await until(
        'everything is delivered',
        async () => {
          const progress = flaky.accepted.size / EVENTS;
          if (workers.kills < KILLS && progress >= (workers.kills + 1) / steps) {
            await workers.killOne();
            if (
              workers.kills % Math.max(1, Math.trunc(KILLS / 3)) === 0 &&
              flaky.secrets.length < 4
            ) {
              await engine.http.post(`/v1/webhooks/endpoints/${endpoint}/rotate-secret`);
              flaky.secrets = [...flaky.secrets, await secretOf(endpoint)];
            }
          }
          const { pending, undispatched, next } = await state();
          if (pending === 0 && undispatched === 0) return true;
          const isQuiet = flaky.requests === requestsBefore && flaky.open === 0;
          quietSince = isQuiet ? quietSince + 1 : 0;
          requestsBefore = flaky.requests;
          if (quietSince >= 15 && next !== null && next > engine.clock.now()) {
            engine.clock.set(next.toISOString());
            workers.setTime(engine.clock.now());
            quietSince = 0;
          }
          return false;
        },
        TIME_LIMIT_MS,
      );

      const events = await engine.database.query<{ id: string }>(
        `SELECT id FROM event WHERE type = 'coupon.updated'`,
      );
      const statuses = await engine.database.query(
        `SELECT status, count(*)::int AS count FROM webhook_delivery GROUP BY status`,
      );
      const duplicates = [...flaky.accepted.values()].filter((times) => times > 1).length;
      process.stdout.write(
        `${EVENTS} events, ${workerCount} worker(s): ${flaky.requests} requests, ` +
          `${flaky.failures} made to fail, ${workers.kills} kills, ${duplicates} accepted twice, ` +
          `${flaky.secrets.length - 1} rotations, ${flaky.unverified} not verified\n`,
      );
      expect(statuses).toEqual([{ status: 'succeeded', count: EVENTS }]);
      expect([...flaky.accepted.keys()].sort()).toEqual(events.map(({ id }) => id).sort());
      expect(flaky.unverified).toBe(0);
      expect(workers.kills).toBe(KILLS);
      expect(engine.clock.now().getTime()).toBeLessThan(
        Date.parse('2026-03-01T09:30:00.000Z') + 120 * HOUR_MS,
      );
    },
    TIME_LIMIT_MS + 60_000,
  );
});
