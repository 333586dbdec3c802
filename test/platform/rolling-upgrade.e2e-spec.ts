import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { previousRelease } from '../support/previous-release';
import { type Receiver, startReceiver } from '../support/receiver';
import { RunningService } from '../support/running-service';
import { until } from '../support/until';

/** Two releases are compiled and started. */
const LONGEST_MS = 240_000;
/** Limit of the time in which the load creates some customers, beside a process that starts. */
const LONGEST_LOAD_MS = 120_000;

interface Thing {
  readonly id: string;
}

interface List<Item> {
  readonly data: readonly Item[];
}

/** Repeats each request, with its idempotency key, at the next process until one answers. */
class RetryingClient {
  /** Processes that take requests, in turn. */
  services: readonly RunningService[] = [];
  readonly answered = { requests: 0, attempts: 0 };

  async post<Body = Thing>(path: string, body: object): Promise<Body> {
    return this.send<Body>('POST', path, body);
  }

  async patch<Body = Thing>(path: string, body: object): Promise<Body> {
    return this.send<Body>('PATCH', path, body);
  }

  async get<Body = Thing>(path: string): Promise<Body> {
    return this.send<Body>('GET', path);
  }

  private async send<Body>(method: string, path: string, body?: object): Promise<Body> {
    this.answered.requests += 1;
    const headers = {
      'Content-Type': 'application/json',
      ...(method === 'POST' && { 'Idempotency-Key': `upgrade-${this.answered.requests}` }),
    };
    let answer: Body | undefined;
    await until(`${method} ${path} is answered`, async () => {
      this.answered.attempts += 1;
      const service = this.services[this.answered.attempts % this.services.length];
      const response = await fetch(`${service?.url ?? ''}/v1/${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }).catch(() => null);
      if (response === null || response.status === 503) return false;
      const text = await response.text();
      if (response.status === 409 && text.includes('idempotency_key_in_use')) return false;
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      answer = JSON.parse(text) as Body;
      return true;
    });
    return answer as Body;
  }
}

/** Sends requests of all kinds until it is stopped. */
class Load {
  readonly customers: string[] = [];
  private stopped = false;
  private failure: unknown = null;
  private readonly running: Promise<unknown>;

  constructor(
    private readonly client: RetryingClient,
    private readonly planId: string,
  ) {
    this.running = Promise.all([this.run('a'), this.run('b'), this.run('c')]);
    this.running.catch((error: unknown) => {
      this.failure = error;
    });
  }

  /**
   * Waits until further customers were created.
   * @throws the first failure that a repeated request did not heal
   */
  async servesFurther(customers: number, what: string): Promise<void> {
    const before = this.customers.length;
    const hasServed = (): boolean => {
      if (this.failure !== null) throw this.failure as Error;
      return this.customers.length >= before + customers;
    };
    await until(what, hasServed, LONGEST_LOAD_MS);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async run(name: string): Promise<void> {
    for (let turn = 0; !this.stopped; turn += 1) await this.story(`${name}${turn}`);
  }

  private async story(name: string): Promise<void> {
    const { client } = this;
    const { id } = await client.post('customers', { name });
    await client.post(`customers/${id}/payment-methods`, {
      provider: 'sandbox',
      token: 'pm_sandbox_ok',
      is_default: true,
    });
    const subscription = await client.post('subscriptions', {
      customer_id: id,
      plan_id: this.planId,
    });
    await client.post('usage-events', {
      idempotency_key: name,
      customer_id: id,
      event_name: 'call',
      timestamp: new Date().toISOString(),
    });
    await client.patch(`customers/${id}`, { name: `${name}, renamed` });
    const invoices = await client.get<List<Thing>>(`invoices?customer_id=${id}`);
    expect(invoices.data).toHaveLength(1);
    await client.get(`subscriptions/${subscription.id}`);
    await client.get(`invoices/${invoices.data[0]?.id ?? ''}/explanation`);
    const events = await client.get<List<{ readonly data: object | null }>>(
      `events?customer_id=${id}`,
    );
    expect(events.data.every(({ data }) => data !== null)).toBe(true);
    this.customers.push(id);
  }
}

describe('an upgrade from the previous release', () => {
  const previous = previousRelease();
  const services: RunningService[] = [];
  let database: TestDatabase;
  let receiver: Receiver;

  beforeAll(async () => {
    database = await createTestDatabase('empty');
    receiver = await startReceiver();
  });

  afterAll(async () => {
    for (const service of services) await service.kill();
    await receiver.close();
    await database.drop();
  });

  async function start(directory?: string): Promise<RunningService> {
    const environment = { WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' };
    const service = await RunningService.start(database.url, environment, directory);
    services.push(service);
    return service;
  }

  async function planOf(client: RetryingClient): Promise<string> {
    const meter = await client.post('meters', {
      key: 'calls',
      event_name: 'call',
      aggregation: 'count',
    });
    const plan = await client.post('plans', {
      code: 'pro',
      name: 'Pro',
      currency: 'USD',
      interval: 'month',
      prices: [
        { name: 'Base', model: 'flat', timing: 'in_advance', amount: 2900 },
        {
          name: 'Calls',
          model: 'graduated',
          timing: 'in_arrears',
          meter_id: meter.id,
          tiers: [{ up_to: null, unit_amount: '1.25' }],
        },
      ],
    });
    return plan.id;
  }

  async function upgrade(directory: string): Promise<void> {
    const client = new RetryingClient();
    const former = await start(directory);
    client.services = [former];
    const planId = await planOf(client);
    await client.post('webhooks/endpoints', {
      url: receiver.url,
      events: ['customer.created', 'invoice.finalized'],
    });

    const load = new Load(client, planId);
    await load.servesFurther(5, 'the previous release works');
    const current = await start();
    client.services = [former, current];
    await load.servesFurther(20, 'both releases work');
    client.services = [current, former];
    expect(await former.stop()).toBe(0);
    client.services = [current];
    await load.servesFurther(5, 'the new release works alone');
    await load.stop();

    expect(await client.get<{ ok: boolean }>('ledger/verify')).toMatchObject({ ok: true });
    const notified = (): ReadonlySet<string> =>
      new Set(
        receiver.received.map(
          ({ body }) => (JSON.parse(body) as { data: { object: Thing } }).data.object.id,
        ),
      );
    await until('every customer is notified', () =>
      load.customers.every((id) => notified().has(id)),
    );
    const { data } = await client.get<List<Thing>>('invoices?limit=100');
    await until('of every invoice', () => data.every(({ id }) => notified().has(id)));
  }

  const { name, directory } = previous;
  if (directory === null) {
    const cause = `this clone does not have the commit of ${name}`;
    it(`is checked by the rules for migrations only, because ${cause}`, async () => {
      const script = join(__dirname, '../../scripts/check-migrations.mjs');
      await promisify(execFile)(process.execPath, [script]);
    });
  } else {
    it(
      `beside processes of ${name} fails no request that a client repeats`,
      () => upgrade(directory),
      LONGEST_MS,
    );
  }
});
