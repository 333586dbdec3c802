import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Client } from 'pg';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../support/databases';
import { randomFrom } from '../support/random';
import { RunningService } from '../support/running-service';
import { SEED } from '../support/seed';
import type { Fault } from '../support/stripe/faults';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { until } from '../support/until';

/**
 * Pays invoices through a faulty provider while processes are killed and the sessions of the database end. One half is
 * collected automatically, the other half paid by request; some payments are refunded. A fifth of the provider's answers is
 * faulty; notifications are lost, doubled and sent in another order. A backup is made on the way, and restored at the end, so that
 * what happened since is known only to the provider. The short form always runs; `npm run campaign:payments`
 * runs the full one. `SEED` repeats the choices, but not the order in which processes run.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const INVOICES = FULL ? 2_000 : 16;
const PROCESSES = FULL ? 3 : 2;
const KILLS = FULL ? 20 : 1;
const DATABASE_ENDS = FULL ? 5 : 1;
/** Part of the invoices that is begun before the backup. */
const BACKUP_AFTER = 0.8;
const CUSTOMERS = FULL ? 50 : 3;
const CLIENTS = FULL ? 24 : 8;
const FAULTY = 0.2;
/**
 * Time limit of a request that is repeated after a kill, from the readiness of the new process. On a slow machine the
 * limit is the time that the start of this process took.
 */
const ANSWERED_WITHIN_MS = 5_000;
/** Longer than any request may take: two calls of the provider, and the wait for a key. */
const LONGEST_ANSWER_MS = 70_000;
const TIME_LIMIT_MS = FULL ? 3_000_000 : 600_000;
const SECRET = 'whsec_campaign';
/** Looks at what is open, in the quiet time, for each hour that passes. */
const ROUNDS_OF_AN_HOUR = 25;

const FAULTS: readonly Fault[] = [
  'reset_before',
  'reset_after',
  'error_500_before',
  'error_500_after',
  'rate_limited',
  'lock_timeout',
  'conflict',
];

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** A request with a key, and its answer. */
interface Sent {
  readonly path: string;
  readonly body: object;
  readonly key: string;
  readonly answer: Answered;
}

interface Made {
  readonly id: string;
  readonly status: string;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('a campaign of faults around payments', () => {
  const random = randomFrom(SEED);
  const randomFault = randomFrom(SEED + 1);
  const chosen = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('There is nothing to choose from.');
    return item;
  };

  let database: TestDatabase;
  let backup: TestDatabase | null = null;
  /** Number of requests that were answered before the backup. */
  let sentBefore = 0;
  /** The events of the provider are to be read after it. */
  let restoredAt = new Date(0);
  let server: Client;
  let monitor: Client;
  let stripe: StripeDouble;
  const ports: number[] = [];
  const services: RunningService[] = [];
  const sent: Sent[] = [];
  const failures: string[] = [];
  const slowest: number[] = [];
  /** Why the last attempt of a request has no answer, by key. */
  const unanswered = new Map<string, string>();
  let paid = 0;
  let ended = 0;

  const start = (slot: number): Promise<RunningService> =>
    RunningService.start(database.url, {
      PORT: String(ports[slot]),
      PAYMENT_PROVIDERS: 'stripe',
      STRIPE_SECRET_KEY: stripe.secretKey,
      STRIPE_API_URL: stripe.url,
      STRIPE_WEBHOOK_SECRETS: SECRET,
      RATE_LIMIT_PER_MINUTE: '0',
      RATE_LIMIT_ADDRESS_PER_MINUTE: '0',
    });

  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  beforeAll(async () => {
    process.stdout.write(`payment campaign: ${INVOICES} invoices, SEED=${SEED}\n`);
    database = await createTestDatabase();
    const maintenance = new URL(database.url);
    maintenance.pathname = '/postgres';
    server = new Client({ connectionString: maintenance.toString() });
    await server.connect();
    stripe = await startStripeDouble();
    for (let slot = 0; slot < PROCESSES; slot += 1) ports.push(await freePort());
    services.push(...(await Promise.all(ports.map((_, slot) => start(slot)))));
    monitor = await connect();
    stripe.webhooks.register(
      `http://127.0.0.1:${ports[0] ?? 0}/v1/providers/stripe/webhooks`,
      SECRET,
    );
  }, 300_000);

  afterAll(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await stripe.close();
    await monitor.end();
    await database.drop();
    await backup?.drop();
    await server.end();
  });

  /** Sends a request once; null without a usable answer. */
  async function attempt(
    service: RunningService,
    { path, body, key }: Omit<Sent, 'answer'>,
  ): Promise<Answered | null> {
    const startedAt = performance.now();
    try {
      const headers = { 'Idempotency-Key': key };
      const response = await service.post(path, body, headers, LONGEST_ANSWER_MS);
      const { status } = response;
      const text = await response.text();
      if (status === 503 || text.includes('"idempotency_key_in_use"')) {
        unanswered.set(key, `${status} ${text}`);
        return null;
      }
      if (status >= 500) failures.push(`${path} answered ${status} ${text}`);
      return { status, text };
    } catch (error) {
      unanswered.set(key, String(error));
      if (performance.now() - startedAt > LONGEST_ANSWER_MS / 2) {
        const waiting = await sessionsNow();
        failures.push(`${path} of ${service.url} had no answer (${String(error)}): ${waiting}`);
      }
      return null;
    }
  }

  /** Describes what the sessions of the database wait for. */
  async function sessionsNow(): Promise<string> {
    const { rows } = await server.query<object>(
      `SELECT pid, state, wait_event_type, wait_event, pg_blocking_pids(pid) AS blocked_by,
         round(extract(epoch FROM now() - xact_start)) AS seconds, left(query, 120) AS query
       FROM pg_stat_activity WHERE datname = $1`,
      [new URL(database.url).pathname.slice(1)],
    );
    return rows.map((row) => JSON.stringify(row)).join('\n');
  }

  /** Repeats a request, to any process, until it is answered. */
  async function send(path: string, body: object, key: string): Promise<Answered> {
    const answers: Answered[] = [];
    await until(
      `${path} is answered`,
      async () => {
        const answer = await attempt(chosen(services), { path, body, key });
        if (answer !== null) answers.push(answer);
        return answer !== null;
      },
      120_000,
    ).catch(async (error: unknown) => {
      throw new Error(`${String(error)}: ${unanswered.get(key) ?? ''}\n${await sessionsNow()}`);
    });
    const [answer] = answers;
    if (answer === undefined) throw new Error(`${path} has no answer.`);
    sent.push({ path, body, key, answer });
    return answer;
  }

  async function made(path: string, body: object, key: string): Promise<Made> {
    const { status, text } = await send(path, body, key);
    if (status >= 300) throw new Error(`${path} answered ${status} ${text}`);
    return JSON.parse(text) as Made;
  }

  async function makeCustomer(number: number): Promise<string> {
    const { id } = await made('/v1/customers', { name: `Payer ${number}` }, `customer-${number}`);
    const token = number % 5 === 2 ? 'pm_card_chargeCustomerFail' : 'pm_card_visa';
    const method = { provider: 'stripe', token, is_default: true };
    await made(`/v1/customers/${id}/payment-methods`, method, `method-${number}`);
    return id;
  }

  async function payInvoice(number: number, customer: string): Promise<void> {
    const isRequested = number % 2 === 0;
    const draft = await made(
      '/v1/invoices',
      {
        customer_id: customer,
        currency: 'USD',
        lines: [{ description: 'Work', amount: 1_000 + number }],
        collection: isRequested ? 'send_invoice' : 'automatic',
      },
      `invoice-${number}`,
    );
    await made(`/v1/invoices/${draft.id}/finalize`, {}, `finalize-${number}`);
    if (isRequested) {
      const payment = await made(`/v1/invoices/${draft.id}/pay`, {}, `pay-${number}`);
      if (number % 8 === 0 && payment.status === 'succeeded') {
        await send(`/v1/refunds/payment/${payment.id}`, { amount: 500 }, `refund-${number}`);
      }
    }
    paid += 1;
  }

  /** Kills a process amid requests, starts it again, and repeats one of the requests. */
  async function kill(number: number, customer: string): Promise<void> {
    const slot = Math.floor(random() * PROCESSES);
    const victim = services[slot];
    if (victim === undefined) throw new Error('There is no such process.');
    const request = {
      path: '/v1/payments',
      body: { customer_id: customer, amount: 900 + number, currency: 'USD' },
      key: `killed-${number}`,
    };
    const lost = attempt(victim, request);
    const seen = stripe.server.requests.length + Math.floor(random() * 4);
    await until('the provider is asked', () => stripe.server.requests.length > seen, 5_000).catch(
      () => undefined,
    );
    await victim.kill();
    await lost;
    const next = await start(slot);
    services[slot] = next;
    const seenStates: string[] = [];
    await until('the repeated request is answered', async () => {
      const answer = await attempt(next, request);
      if (answer !== null) sent.push({ ...request, answer });
      else seenStates.push(await stateOf(request.key));
      return answer !== null;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${seenStates.join('\n')}`);
    });
    const took = performance.now() - next.readyAt;
    slowest.push(took);
    if (took > Math.max(ANSWERED_WITHIN_MS, next.startMs)) {
      failures.push(`retry ${number} took ${Math.round(took)} ms`);
    }
    if (took > ANSWERED_WITHIN_MS / 2) {
      process.stdout.write(
        `retry ${number} took ${Math.round(took)} ms: ${seenStates.join('\n')}\n`,
      );
    }
  }

  /** Describes why a request is not answered: its payment, and the lease of the process that works on it. */
  async function stateOf(key: string): Promise<string> {
    const { rows } = await monitor
      .query<Record<string, unknown>>(
        `SELECT now() AS at, key.leased_by AS key_owner, payment.id, status, due_at, payment.leased_by,
           attempts, provider_reference
         FROM idempotency_key AS key LEFT JOIN payment ON payment.id = key.resource_id WHERE key = $1`,
        [key],
      )
      .catch((error: unknown) => ({ rows: [{ error: String(error) }] }));
    return JSON.stringify(rows[0] ?? null);
  }

  /** Ends all sessions and refuses new ones for a moment, as a restart of the database server does. */
  async function endDatabase(
    meanwhile: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    await database.accept(false);
    for (let round = 0; round < 20; round += 1) {
      await server.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
        [new URL(database.url).pathname.slice(1)],
      );
    }
    await meanwhile();
    await database.accept(true);
    monitor = await connect();
  }

  /** Copies the database while no session is connected. */
  async function makeBackup(): Promise<void> {
    await endDatabase(async () => {
      sentBefore = sent.length;
      backup = await copyTestDatabase(database.url);
    });
  }

  /** Goes on with the backup: what happened since is known only to the provider. */
  async function restore(): Promise<void> {
    if (backup === null) throw new Error('There is no backup.');
    await Promise.all(services.map((service) => service.kill()));
    await monitor.end();
    await database.drop();
    database = backup;
    backup = null;
    sent.length = sentBefore;
    restoredAt = new Date();
    services.splice(0, PROCESSES, ...(await Promise.all(ports.map((_, slot) => start(slot)))));
    monitor = await connect();
  }

  async function disturb(customers: readonly string[]): Promise<void> {
    const kinds = [
      ...Array.from({ length: KILLS }, () => 'kill' as const),
      ...Array.from({ length: DATABASE_ENDS }, () => 'database' as const),
    ].sort(() => random() - 0.5);
    for (const [number, kind] of kinds.entries()) {
      const progress = ((number + 1) / (kinds.length + 1)) * INVOICES;
      if (backup === null && progress > BACKUP_AFTER * INVOICES) {
        await until('invoices are paid', () => paid >= BACKUP_AFTER * INVOICES, TIME_LIMIT_MS);
        await makeBackup();
      }
      await until('invoices are paid', () => paid >= progress, TIME_LIMIT_MS);
      if (kind === 'kill') await kill(number, chosen(customers));
      else await endDatabase();
      stripe.webhooks.releaseHeld((held) => [...held].sort(() => random() - 0.5));
      ended += 1;
    }
  }

  async function countOf(sql: string): Promise<number> {
    const { rows } = await monitor.query<{ count: number }>(sql);
    return rows[0]?.count ?? -1;
  }

  const open = (): Promise<number> =>
    countOf(`
      SELECT (SELECT count(*) FROM payment WHERE due_at IS NOT NULL)::int
        + (SELECT count(*) FROM refund WHERE due_at IS NOT NULL)::int
        + (SELECT count(*) FROM invoice WHERE collect_at <= now())::int
        + (SELECT count(*) FROM provider_event WHERE due_at IS NOT NULL)::int
        + (SELECT count(*) FROM provider_cursor WHERE read_until < '${restoredAt.toISOString()}')::int
        AS count`);

  /** Ends the faults, and lets hours pass for planned polls until nothing is open. */
  async function quiet(): Promise<void> {
    stripe.faults.clear();
    stripe.webhooks.fate = () => 'deliver';
    stripe.webhooks.releaseHeld();
    let rounds = 0;
    await until(
      'nothing is open',
      async () => {
        if (rounds % ROUNDS_OF_AN_HOUR === 0) await letAnHourPass();
        rounds += 1;
        return (await open()) === 0;
      },
      600_000,
    );
  }

  /** Makes planned polls due, and those of events whose object could not be read. */
  async function letAnHourPass(): Promise<void> {
    for (const table of ['payment', 'refund']) {
      await monitor.query(
        `UPDATE ${table} SET due_at = now() WHERE due_at > now() AND leased_by IS NULL`,
      );
    }
    await monitor.query('UPDATE provider_event SET due_at = now() WHERE due_at > now()');
    await monitor.query(
      `UPDATE refund SET absent_since = absent_since - interval '1 hour' WHERE due_at IS NOT NULL`,
    );
  }

  /** Returns the money of each customer at the provider, less what was refunded. */
  function heldAtProvider(): ReadonlyMap<string, number> {
    const held = new Map<string, number>();
    const intents = stripe.account.paymentIntents;
    const add = (customer: string, amount: number): void => {
      held.set(customer, (held.get(customer) ?? 0) + amount);
    };
    for (const { status, amount_received: amount, metadata } of intents.values()) {
      if (status === 'succeeded') add(metadata['customer_id'] ?? '', amount);
    }
    for (const { status, amount, payment_intent: of } of stripe.account.refunds.values()) {
      const intent = typeof of === 'string' ? intents.get(of) : undefined;
      if (status === 'succeeded') add(intent?.metadata['customer_id'] ?? '', -amount);
    }
    return held;
  }

  async function heldHere(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await monitor.query<{ customer_id: string; held: number }>(
      `SELECT customer_id, sum(amount - amount_refunded)::int AS held FROM payment
       WHERE status = 'succeeded' GROUP BY customer_id`,
    );
    return new Map(rows.map(({ customer_id: customer, held }) => [customer, held]));
  }

  function chargedTwice(): readonly string[] {
    const succeeded = [...stripe.account.paymentIntents.values()]
      .filter(({ status }) => status === 'succeeded')
      .map(({ metadata }) => metadata['payment_id'] ?? '');
    return succeeded.filter((payment, index) => succeeded.indexOf(payment) !== index);
  }

  function invoicesPaidTwice(): readonly string[] {
    const paidFor = [...stripe.account.paymentIntents.values()]
      .filter(({ status }) => status === 'succeeded')
      .flatMap(({ metadata }) => metadata['invoice_id'] ?? []);
    return paidFor.filter((invoice, index) => paidFor.indexOf(invoice) !== index);
  }

  async function newestComparison(): Promise<Made> {
    const answer = await services[0]?.get('/v1/reconciliations?limit=1');
    const { data } = (await answer?.json()) as { readonly data: readonly Made[] };
    return data[0] ?? { id: '', status: 'none' };
  }

  /** Compares books and provider, after the comparison that each day begins with. */
  async function reconcile(): Promise<Made> {
    const hasEnded = async (): Promise<boolean> => {
      const { status } = await newestComparison();
      return status === 'completed' || status === 'failed';
    };
    await until('the daily comparison ends', hasEnded, TIME_LIMIT_MS);
    const { id } = await made('/v1/reconciliations', { provider: 'stripe' }, 'reconcile');
    await until('the comparison ends', hasEnded, TIME_LIMIT_MS);
    const newest = await newestComparison();
    expect(newest.id).toBe(id);
    return newest;
  }

  it(
    'charges each payment once, and leaves books and provider equal',
    async () => {
      const customers: string[] = [];
      for (let number = 0; number < CUSTOMERS; number += 1) {
        customers.push(await makeCustomer(number));
      }
      stripe.faults.decide = () => {
        const fault = FAULTS[Math.floor(randomFault() * FAULTS.length)];
        return randomFault() < FAULTY ? (fault ?? null) : null;
      };
      stripe.webhooks.fate = () => {
        const chance = randomFault();
        return chance < 0.1 ? 'lose' : chance < 0.3 ? 'double' : chance < 0.6 ? 'hold' : 'deliver';
      };
      let next = 0;
      const client = async (): Promise<void> => {
        for (let number = next; number < INVOICES; number = next) {
          next += 1;
          await payInvoice(number, customers[number % CUSTOMERS] ?? '');
        }
      };
      const startedAt = performance.now();
      await Promise.all([...Array.from({ length: CLIENTS }, client), disturb(customers)]);
      if (backup === null) await makeBackup();
      const loadedAt = performance.now();
      await restore();
      await quiet();
      const quietAt = performance.now();

      expect(chargedTwice()).toEqual([]);
      expect(invoicesPaidTwice()).toEqual([]);
      expect(await heldHere()).toEqual(heldAtProvider());
      expect(await reconcile()).toMatchObject({ status: 'completed', differences_found: 0 });
      const verified = await services[0]?.get('/v1/ledger/verify');
      expect(await verified?.json()).toMatchObject({ ok: true });
      const changed: string[] = [];
      for (const { path, body, key, answer } of sent) {
        const replayed = await attempt(chosen(services), { path, body, key });
        if (replayed?.text !== answer.text) changed.push(`${path} ${key}`);
      }
      expect(changed).toEqual([]);
      expect(failures).toEqual([]);
      expect(ended).toBe(KILLS + DATABASE_ENDS);
      expect(stripe.server.defects).toEqual([]);
      expect(stripe.server.refused).toEqual([]);
      process.stdout.write(
        `load ${Math.round((loadedAt - startedAt) / 1_000)} s, quiet ${Math.round((quietAt - loadedAt) / 1_000)} s, ` +
          `slowest retry after a kill ${Math.round(Math.max(...slowest))} ms, ` +
          `${stripe.server.requests.length} requests to the provider, ` +
          `${stripe.server.requests.filter(({ fault }) => fault !== null).length} faulty\n`,
      );
    },
    TIME_LIMIT_MS,
  );
});
