import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AppendResultDto } from '../../src/modules/metering/dto/append-result.dto';
import { createCustomer, insertMeter, type SentEvent } from '../support/metering';
import { SEED } from '../support/seed';
import type { ListeningMessage } from '../support/service-process';
import { startTestApp, type TestApp } from '../support/test-app';

/**
 * Counts each event once, whatever happens: four clients send batches with repeats among them and break off some of
 * them, and the service is killed in between; then the clients repeat the requests without a response. The short form
 * always runs; `npm run campaign:usage` runs the full one of 1,000,000 events. `SEED` repeats a run.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const EVENTS = FULL ? 1_000_000 : 20_000;
const TIME_LIMIT_MS = FULL ? 3_600_000 : 180_000;
const CLIENTS = 4;
const CUSTOMERS = 20;
/** Every nth request is NDJSON of ten times the length. */
const BATCH = FULL ? 1_000 : 200;
const REPEATS = 0.05;
const ABORTS = 0.03;
const NOW = '2026-03-01T12:00:00.000Z';
const SPAN_MS = 10 * 3_600_000;
const HOURS_AGO = '2026-03-01T01:00:00.000Z';
const HOUR_AHEAD = '2026-03-01T13:00:00.000Z';
const RUN_TS = join(__dirname, '../support/run-ts.cjs');
const SERVICE = join(__dirname, '../support/service-process.ts');
const REGIONS = ['eu', 'us', 'ap'] as const;

/** Returns a number from 0 to 1, the same for the same name and seed. */
function chance(name: string): number {
  return createHash('sha256').update(`${SEED} ${name}`).digest().readUInt32BE(0) / 2 ** 32;
}

/** Returns the event numbers of a client: a range of its own, with repeats of its own and of others. */
function numbersOf(client: number): readonly number[] {
  const share = EVENTS / CLIENTS;
  return Array.from({ length: share }, (_, place) => {
    const isRepeat = place > 0 && chance(`repeat ${client} ${place}`) < REPEATS;
    return isRepeat ? Math.trunc(chance(`of ${client} ${place}`) * EVENTS) : client * share + place;
  });
}

function eventOf(number: number, customers: readonly string[]): SentEvent {
  const at = Date.parse(NOW) - Math.trunc(chance(`at ${number}`) * SPAN_MS);
  return {
    idempotency_key: `campaign-${number}`,
    customer_id: customers[number % CUSTOMERS] ?? '',
    event_name: 'campaign',
    timestamp: new Date(at).toISOString(),
    properties: { amount: amountOf(number), region: regionOf(number) },
  };
}

/** Returns the events of one customer, in the order of a proof: by time and key. */
function sentBy(customer: string, numbers: ReadonlySet<number>, customers: readonly string[]) {
  const place = ({ timestamp, idempotency_key: key }: SentEvent) => `${timestamp} ${key}`;
  return [...numbers]
    .map((number) => eventOf(number, customers))
    .filter(({ customer_id: id }) => id === customer)
    .sort((one, other) => (place(one) < place(other) ? -1 : 1));
}

/** Computes the digest as a client does from its own log; see the README of metering. */
function digestOf(events: readonly SentEvent[]): string {
  const digest = createHash('sha256');
  for (const { idempotency_key: key } of events) digest.update(`${key}\n`);
  return digest.digest('hex');
}

const amountOf = (number: number): string => `${number % 97}.${number % 10}`;
const regionOf = (number: number): string => REGIONS[number % REGIONS.length] ?? '';

/** Sends a body; returns null without a response. Breaks off after a number of bytes if one is given. */
function post(
  url: string,
  agent: Agent,
  type: string,
  body: Buffer,
  disconnectsAfterBytes: number | null,
) {
  return new Promise<AppendResultDto | null>((resolve, reject) => {
    const headers = { 'Content-Type': type, 'Content-Length': body.length };
    const options = { method: 'POST', headers, agent };
    const request = httpRequest(`${url}/v1/usage-events`, options, (response) => {
      text(response).then(
        (answer) => {
          if (response.statusCode === 200) resolve(JSON.parse(answer) as AppendResultDto);
          else if (response.statusCode === 503) resolve(null);
          else reject(new Error(`${response.statusCode}: ${answer}`));
        },
        () => resolve(null),
      );
    });
    request.on('error', () => resolve(null));
    if (disconnectsAfterBytes === null) request.end(body);
    else request.write(body.subarray(0, disconnectsAfterBytes), () => request.destroy());
  });
}

/** The service under test, which is killed once. */
class Service {
  url = '';
  kills = 0;
  private child: ChildProcess | null = null;

  constructor(private readonly databaseUrl: string) {}

  async start(): Promise<void> {
    const child = fork(RUN_TS, [SERVICE, this.databaseUrl, NOW], { stdio: 'inherit' });
    this.child = child;
    const message = await new Promise<ListeningMessage>((resolve) => {
      child.once('message', (message) => resolve(message as ListeningMessage));
    });
    this.url = message.url;
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    this.kills += 1;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
}

class Client {
  readonly unanswered: (readonly number[])[] = [];
  answered = 0;
  aborts = 0;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(
    private readonly name: number,
    private readonly service: Service,
    private readonly customers: readonly string[],
    private readonly progress: () => Promise<void>,
  ) {}

  async sendAll(): Promise<void> {
    const numbers = numbersOf(this.name);
    for (let sent = 0, turn = 0; sent < numbers.length; turn += 1) {
      const size = turn % 10 === 9 ? BATCH * 10 : BATCH;
      const portion = numbers.slice(sent, sent + size);
      sent += portion.length;
      if (!(await this.send(portion, `${this.name} ${turn}`))) this.unanswered.push(portion);
      await this.progress();
    }
  }

  /** Repeats the requests without a response until each has one. */
  async sendAgain(): Promise<void> {
    for (
      let portion = this.unanswered.pop();
      portion !== undefined;
      portion = this.unanswered.pop()
    ) {
      if (!(await this.send(portion, null))) throw new Error('No answer from a service that runs.');
    }
    this.agent.destroy();
  }

  private async send(numbers: readonly number[], turn: string | null): Promise<boolean> {
    const events = numbers.map((number) => JSON.stringify(eventOf(number, this.customers)));
    const isStream = events.length > 1_000 || events.length > BATCH;
    const body = Buffer.from(isStream ? events.join('\n') : `{"events":[${events.join(',')}]}`);
    const breaksOff = turn !== null && chance(`abort ${turn}`) < ABORTS;
    if (breaksOff) this.aborts += 1;
    const disconnectsAfterBytes = breaksOff
      ? Math.trunc(body.length * chance(`abort at ${turn}`))
      : null;
    const type = isStream ? 'application/x-ndjson' : 'application/json';
    const answer = await post(this.service.url, this.agent, type, body, disconnectsAfterBytes);
    if (answer === null) return false;
    expect(answer.rejected).toEqual([]);
    expect(answer.accepted + answer.duplicates).toBe(events.length);
    this.answered += 1;
    return true;
  }
}

describe('a usage campaign', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Sums the events here: by customer, hour and region. */
  function expectedTotals(numbers: ReadonlySet<number>, customers: readonly string[]) {
    const totals = new Map<string, { events: number; tenths: number }>();
    for (const number of numbers) {
      const { timestamp, customer_id: customer } = eventOf(number, customers);
      const key = `${customer} ${timestamp.slice(0, 13)} ${regionOf(number)}`;
      const sum = totals.get(key) ?? { events: 0, tenths: 0 };
      totals.set(key, {
        events: sum.events + 1,
        tenths: sum.tenths + Math.round(Number(amountOf(number)) * 10),
      });
    }
    return totals;
  }

  it(
    'stores and counts each event once',
    async () => {
      const customers: string[] = [];
      for (let made = 0; made < CUSTOMERS; made += 1) customers.push(await createCustomer(engine));
      const meter = await insertMeter(engine, {
        eventName: 'campaign',
        aggregation: 'sum',
        groupBy: ['region'],
      });
      const service = new Service(engine.databaseUrl);
      await service.start();
      const startedAt = performance.now();
      let requests = 0;
      const killAt = Math.trunc(EVENTS / BATCH / 4);
      const progress = async (): Promise<void> => {
        requests += 1;
        if (requests !== killAt) return;
        await service.kill();
        await service.start();
      };
      const clients = Array.from(
        { length: CLIENTS },
        (_, name) => new Client(name, service, customers, progress),
      );
      await Promise.all(clients.map((client) => client.sendAll()));
      const unanswered = clients.reduce((sum, client) => sum + client.unanswered.length, 0);
      await Promise.all(clients.map((client) => client.sendAgain()));
      const tookMs = performance.now() - startedAt;
      await service.kill();

      const numbers = new Set(clients.flatMap((_, name) => [...numbersOf(name)]));
      const aborts = clients.reduce((sum, client) => sum + client.aborts, 0);
      process.stdout.write(
        `seed ${SEED}: ${EVENTS} events sent, ${numbers.size} distinct, ${aborts} aborts, 1 kill, ` +
          `${unanswered} requests sent again, ${Math.round(tookMs / 1_000)} s\n`,
      );
      const [stored] = await engine.database.query<{ events: number; keys: number }>(
        'SELECT count(*)::int AS events, count(DISTINCT idempotency_key)::int AS keys FROM usage_event',
      );
      expect(stored).toEqual({ events: numbers.size, keys: numbers.size });

      const buckets = await engine.database.query<{ key: string; events: number; tenths: number }>(
        `SELECT customer_id || ' ' || to_char(start_at, 'YYYY-MM-DD"T"HH24') || ' ' || (group_key::jsonb ->> 0) AS key,
           events::int, (total * 10)::int AS tenths
         FROM usage_bucket JOIN usage_stream ON usage_stream.id = stream_id WHERE meter_id = $1`,
        [meter],
      );
      const counted = new Map(buckets.map(({ key, ...totals }) => [key, totals]));
      expect(counted).toEqual(expectedTotals(numbers, customers));

      const [tally] = await engine.database.query<{ accepted: number; rejected: number }>(
        `SELECT (SELECT count(*)::int FROM usage_event) AS accepted,
           (SELECT coalesce(sum(rejected), 0)::int FROM usage_tally) AS rejected`,
      );
      expect(tally).toEqual({ accepted: numbers.size, rejected: 0 });

      for (const customer of customers) {
        const { body } = await engine.http
          .get(`/v1/meters/${meter}/proof`)
          .query({ customer_id: customer, from: HOURS_AGO, to: HOUR_AHEAD });
        const sent = sentBy(customer, numbers, customers);
        expect(body).toMatchObject({
          accepted: sent.length,
          rejected: 0,
          counted: sent.length,
          pending: sent.length,
          digest: digestOf(sent),
        });
      }
      expect(service.kills).toBe(2);
    },
    TIME_LIMIT_MS,
  );
});
