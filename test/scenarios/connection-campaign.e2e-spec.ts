import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Pool } from 'pg';
import supertest from 'supertest';
import type { AuditedMessage, TimeMessage } from '../support/audited-process';
import { DatabaseProxy, type Fault } from '../support/database-proxy';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { randomFrom } from '../support/random';
import { SEED } from '../support/seed';
import { until } from '../support/until';

/**
 * Delays, cuts and loses the responses to BEGIN, COMMIT, ROLLBACK and to statements that commit by themselves, under
 * mixed load from two processes. Every acknowledged request must be committed, `service_unavailable` must mean that
 * nothing was done, and an unknown outcome must be answered with `outcome_unknown`. The short form always runs; `npm
 * run campaign:connections` runs the full one with 1,000 faults. `SEED` repeats the choice of faults.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const FAULTS = FULL ? 1_000 : 60;
const TIME_LIMIT_MS = FULL ? 3_600_000 : 180_000;
/** The wait for an answer takes at most twice as long. */
const STATEMENT_TIMEOUT_MS = FULL ? 1_000 : 400;
const TOO_LATE_MS = 2.5 * STATEMENT_TIMEOUT_MS;
const HOLD_MS = FULL ? 35_000 : 4 * STATEMENT_TIMEOUT_MS;
const PROCESSES = 2;
const CLIENTS = 10;
const CHANCE_OF_FAULT = 0.12;
const NOW = '2026-03-01T12:00:00.000Z';
const LATER = '2026-03-01T13:00:00.000Z';
const WORK = ['due-payments', 'due-refunds'];
const RUN_TS = join(__dirname, '../support/run-ts.cjs');
const PROCESS = join(__dirname, '../support/audited-process.ts');

const FAULTY = /^(?:START TRANSACTION|COMMIT|ROLLBACK)|INSERT INTO usage_event/;

class Faults {
  readonly counts = new Map<string, number>();
  left = FAULTS;
  private readonly random = randomFrom(SEED);

  of(statement: string): Fault | null {
    if (this.left === 0 || !FAULTY.test(statement) || this.random() >= CHANCE_OF_FAULT) return null;
    this.left -= 1;
    const [name, fault] = this.choose();
    const kind = `${FAULTY.exec(statement)?.[0] ?? ''} ${name}`;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    return fault;
  }

  private choose(): readonly [string, Fault] {
    const chance = this.random();
    if (chance < 0.3) return ['cut', { kind: 'cut' }];
    if (chance < 0.5) return ['lost', { kind: 'lose' }];
    if (chance < 0.9) return ['late', { kind: 'delay', delayMs: TOO_LATE_MS }];
    return ['held', { kind: 'delay', delayMs: HOLD_MS }];
  }
}

/** An engine behind its own proxy. */
class Service {
  private constructor(
    private readonly child: ChildProcess,
    readonly proxy: DatabaseProxy,
    readonly http: ReturnType<typeof supertest>,
  ) {}

  static async start(databaseUrl: string): Promise<Service> {
    const proxy = await DatabaseProxy.before(databaseUrl);
    const child = fork(RUN_TS, [PROCESS, proxy.url, String(STATEMENT_TIMEOUT_MS)], {
      stdio: 'inherit',
    });
    const [message] = (await once(child, 'message')) as [AuditedMessage];
    if (message.kind !== 'listening') throw new Error('The engine did not start.');
    const service = new Service(child, proxy, supertest(message.url));
    await service.setTime(NOW);
    return service;
  }

  /** Sets the time, wakes the pollers of payment providers, and returns the audit of connections. */
  async setTime(now: string): Promise<{ readonly handedOut: number; readonly notIdle: number }> {
    const message: TimeMessage = { now, work: WORK };
    const answer = once(this.child, 'message');
    this.child.send(message);
    const [audit] = (await answer) as [AuditedMessage];
    if (audit.kind !== 'audit') throw new Error('The engine did not answer.');
    return audit;
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
    await this.proxy.close();
  }
}

interface Kind {
  readonly path: string;
  readonly table: 'customer' | 'payment' | 'usage_event';
  /** Finds the rows that an operation with this name wrote. */
  readonly condition: string;
  readonly hasKey: boolean;
  readonly body: (name: string, customer: string) => object;
}

const asCustomer = (name: string): object => ({ name });
const asPayment = (name: string, customer_id: string): object => ({
  customer_id,
  amount: 100,
  currency: 'USD',
  metadata: { name },
});
const asEvent = (name: string, customer_id: string): object => ({
  idempotency_key: name,
  customer_id,
  event_name: 'campaign',
  timestamp: NOW,
});

const CUSTOMER = { path: '/v1/customers', table: 'customer', condition: 'name = $1' } as const;
const PAYMENT = {
  path: '/v1/payments',
  table: 'payment',
  condition: `metadata->>'name' = $1`,
} as const;
const USAGE = {
  path: '/v1/usage-events',
  table: 'usage_event',
  condition: 'idempotency_key = $1',
} as const;

const KINDS: readonly Kind[] = [
  { ...CUSTOMER, hasKey: false, body: asCustomer },
  { ...CUSTOMER, hasKey: true, body: asCustomer },
  { ...PAYMENT, hasKey: false, body: asPayment },
  { ...PAYMENT, hasKey: true, body: asPayment },
  { ...USAGE, hasKey: true, body: asEvent },
  { ...USAGE, hasKey: true, body: asEvent },
  // A refused request, so that the transaction ends with ROLLBACK.
  {
    ...CUSTOMER,
    hasKey: false,
    body: (name) => ({ name, test_clock_id: 'clock_01kq3m5x6zf0a8v7s9w2b4c6d8' }),
  },
];

type ReportedResult = 'done' | 'unknown' | 'not_done' | 'refused' | 'in_use';

interface Operation {
  readonly name: string;
  readonly kind: Kind;
  readonly customer: string;
  readonly reported: ReportedResult[];
}

function reportedBy({
  status,
  body,
}: {
  readonly status: number;
  readonly body: unknown;
}): ReportedResult {
  const { code } = body as { readonly code?: string };
  if (status === 200 || status === 201) return 'done';
  if (status === 503 && code === 'outcome_unknown') return 'unknown';
  if (status === 503 && code === 'service_unavailable') return 'not_done';
  if (status === 409 && code === 'idempotency_key_in_use') return 'in_use';
  if (status === 422) return 'refused';
  throw new Error(`${status} ${JSON.stringify(body)}`);
}

describe('a campaign of faults between the service and its database', () => {
  let database: TestDatabase;
  let observer: Pool;
  let services: Service[] = [];
  const faults = new Faults();
  const random = randomFrom(SEED + 1);
  const operations: Operation[] = [];
  const customers: string[] = [];
  let notVisible = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    observer = new Pool({ connectionString: database.url, max: 4 });
    // The database may be dropped while the ended pool still closes its connections.
    observer.on('error', () => undefined);
    services = await Promise.all(
      Array.from({ length: PROCESSES }, () => Service.start(database.url)),
    );
    // On a slow machine, a statement can take longer than its limit here, and the request is then not done.
    await until('customers are made', async () => {
      const made = await serviceOf(customers.length)
        .http.post('/v1/customers')
        .send({ name: 'Payer' });
      if (reportedBy(made) === 'done') customers.push((made.body as { id: string }).id);
      return customers.length === 8;
    });
  }, TIME_LIMIT_MS);

  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await observer.end();
    await database.drop();
  });

  function serviceOf(number: number): Service {
    const service = services[number % services.length];
    if (service === undefined) throw new Error('No service was started.');
    return service;
  }

  async function rowsOf({ name, kind }: Operation): Promise<number> {
    const { rows } = await observer.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${kind.table} WHERE ${kind.condition}`,
      [name],
    );
    return rows[0]?.count ?? -1;
  }

  async function send(operation: Operation): Promise<ReportedResult> {
    const { kind, name, customer } = operation;
    const request = serviceOf(Math.floor(random() * PROCESSES)).http.post(kind.path);
    if (kind.hasKey && kind.table !== 'usage_event') request.set('Idempotency-Key', name);
    const reported = reportedBy(await request.send(kind.body(name, customer)));
    operation.reported.push(reported);
    if (reported === 'done' && (await rowsOf(operation)) === 0) notVisible += 1;
    return reported;
  }

  /** Sends operations until all faults are used, and repeats those with a key, as clients do. */
  async function load(client: number): Promise<void> {
    for (let number = 0; faults.left > 0; number += 1) {
      const kind = KINDS[Math.floor(random() * KINDS.length)];
      if (kind === undefined) throw new Error('There is no such kind.');
      const name = `campaign-${client}-${number}`;
      const customer = customers[Math.floor(random() * customers.length)] ?? '';
      const operation: Operation = { name, kind, customer, reported: [] };
      operations.push(operation);
      for (let tries = 0; tries < 3; tries += 1) {
        const reported = await send(operation);
        if (!kind.hasKey || reported === 'done' || reported === 'in_use') break;
      }
    }
  }

  /**
   * Stops the faults, lets an hour pass for waiting work, and repeats every request with a key until it is answered.
   */
  async function settle(): Promise<void> {
    for (const { proxy } of services) proxy.release();
    await until('sessions of faults have ended', async () => (await openTransactions()) === 0);
    for (const service of services) await service.setTime(LATER);
    for (const operation of operations.filter(({ kind }) => kind.hasKey)) {
      await until(`${operation.name} is answered`, async () => {
        return operation.reported.at(-1) === 'done' || (await send(operation)) === 'done';
      });
    }
  }

  async function openTransactions(): Promise<number> {
    const { rows } = await observer.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()
         AND application_name = 'billing-engine' AND state LIKE 'idle in transaction%'`,
    );
    return rows[0]?.count ?? -1;
  }

  /** Returns how many rows an operation may have written, according to its responses. */
  function possibleRowCounts({ kind, reported }: Operation): readonly number[] {
    if (reported.includes('done')) return [1];
    return reported.includes('unknown') && !kind.hasKey ? [0, 1] : [0];
  }

  it(
    'loses nothing that was acknowledged, and reports unknown outcomes',
    async () => {
      for (const { proxy } of services) proxy.inject((statement) => faults.of(statement));
      await Promise.all(Array.from({ length: CLIENTS }, (_, client) => load(client)));
      await settle();

      const wrong: string[] = [];
      for (const operation of operations) {
        const made = await rowsOf(operation);
        if (possibleRowCounts(operation).includes(made)) continue;
        wrong.push(
          `${operation.kind.path} ${operation.name}: ${made} after ${operation.reported.join()}`,
        );
      }
      const audits = await Promise.all(services.map((service) => service.setTime(LATER)));
      const books: object[] = [];
      await until('the books are verified', async () => {
        const { status, body } = await serviceOf(0).http.get('/v1/ledger/verify');
        if (status === 200) books.push(body as object);
        return books.length > 0;
      });

      expect({ wrong, notVisible, left: faults.left }).toEqual({
        wrong: [],
        notVisible: 0,
        left: 0,
      });
      expect(audits.map(({ notIdle }) => notIdle)).toEqual([0, 0]);
      expect(books).toMatchObject([{ ok: true }]);
      const reported = operations.flatMap((operation) => operation.reported);
      expect(reported).toEqual(expect.arrayContaining(['done', 'unknown', 'not_done', 'refused']));
    },
    TIME_LIMIT_MS,
  );
});
