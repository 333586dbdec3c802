import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { countLockWaits, untilSessionsWait } from '../support/lock-waits';
import { createCustomer, stagedBodies } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const RUN_TS = join(__dirname, '../support/run-ts.cjs');
const MAIN = join(__dirname, '../../src/main.ts');
/** More than stays in memory before a transaction begins. */
const MANY_LINES = 8_000;
const END = '0\r\n\r\n';

describe('a process that is stopped', () => {
  let engine: TestApp;
  let monitor: Client;
  let customer: string;
  let service: ChildProcess;
  let port: number;
  let ended: Promise<unknown[]>;
  let serial = 0;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    engine = await startTestApp();
    customer = await createCustomer(engine);
    monitor = new Client({ connectionString: engine.databaseUrl });
    await monitor.connect();
  });

  beforeEach(async () => {
    service = spawn(process.execPath, [RUN_TS, MAIN], {
      env: {
        ...process.env,
        DATABASE_URL: engine.databaseUrl,
        PORT: '0',
        ROLE: 'api',
        RATE_LIMIT_PER_MINUTE: '100000',
        LOG_LEVEL: 'silent',
        ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    ended = once(service, 'exit');
    if (service.stdout === null) throw new Error('The output of the service is not piped.');
    for await (const line of createInterface(service.stdout)) {
      const [, url] = /^Billing engine: (.*)$/.exec(line) ?? [];
      if (url === undefined) continue;
      port = Number(new URL(url).port);
      break;
    }
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    service.kill('SIGKILL');
    await ended;
  });

  afterAll(async () => {
    await monitor.end();
    await engine.close();
  });

  async function connectTo(): Promise<Socket> {
    const socket = connect({ port, noDelay: true });
    sockets.add(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  async function open(
    path: string,
    type: string,
    length = 'Transfer-Encoding: chunked',
  ): Promise<Socket> {
    const socket = await connectTo();
    const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', `Content-Type: ${type}`];
    socket.write([...head, length, '', ''].join('\r\n'));
    return socket;
  }

  const isRefused = async (): Promise<boolean> => {
    const socket = connect({ port });
    const outcome = await Promise.race([
      once(socket, 'connect').then(() => false),
      new Promise<boolean>((resolve) => socket.once('error', () => resolve(true))),
    ]).catch(() => true);
    socket.destroy();
    return outcome;
  };

  const get = (path: string) => fetch(`http://localhost:${port}${path}`);

  const openNdjson = (): Promise<Socket> => open('/v1/usage-events', 'application/x-ndjson');

  /** Waits for the answer to a further request, so that the service has read what was sent before. */
  async function untilRequestsArrived(): Promise<void> {
    const known = await openNdjson();
    known.write(END);
    await once(known, 'data');
  }

  const chunk = (piece: string): string =>
    `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`;

  const linesOf = (count: number, event_name = 'stopped'): string =>
    Array.from({ length: count }, () => {
      const idempotency_key = `stop-${(serial += 1)}`;
      const timestamp = '2026-03-01T00:00:00Z';
      return `${JSON.stringify({ idempotency_key, customer_id: customer, event_name, timestamp })}\n`;
    }).join('');

  async function stored(): Promise<number> {
    const { rows } = await monitor.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM usage_event',
    );
    return rows[0]?.count ?? 0;
  }

  const staging = (): Promise<number> => stagedBodies(monitor);

  it('answers clients that still send usage at once, stores nothing of it, and ends in time', async () => {
    const before = await stored();
    const [silent, begun, more, waiting] = [
      await openNdjson(),
      await openNdjson(),
      await openNdjson(),
      await openNdjson(),
    ];
    const late = await openNdjson();
    begun.write(chunk(linesOf(1)));
    more.write(chunk(linesOf(MANY_LINES)));
    await until('the long one is staged', async () => (await staging()) === 1);
    const answers = [silent, begun, more, waiting, late].map((socket) => text(socket));
    service.kill('SIGTERM');
    for (const answer of await Promise.all(answers)) {
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 503 /);
      expect(head).toMatch(/^connection: close$/im);
      expect(head).toMatch(/^retry-after: \d+$/im);
      expect(body).toContain('"code":"service_unavailable"');
    }
    expect(await ended).toEqual([0, null]);
    expect(await stored()).toBe(before);
  });

  it('stores usage that arrived completely, and answers it', async () => {
    const before = await stored();
    const warm = await openNdjson();
    warm.end(`${chunk(linesOf(1, 'held'))}${END}`);
    await until('there is a stream', async () => (await stored()) === before + 1);
    await monitor.query('BEGIN');
    await monitor.query(`SELECT FROM usage_stream WHERE event_name = 'held' FOR UPDATE`);
    const socket = await openNdjson();
    const answer = text(socket);
    socket.write(`${chunk(linesOf(3, 'held'))}${END}`);
    await untilSessionsWait(engine.database);
    service.kill('SIGTERM');
    await until('it no longer listens', isRefused);
    await monitor.query('COMMIT');
    expect(await answer).toMatch(/^HTTP\/1\.1 200 [^]*"accepted":3/);
    expect(await ended).toEqual([0, null]);
    expect(await stored()).toBe(before + 4);
  });

  it('does not wait for a JSON body', async () => {
    const announced = 'Content-Length: 100';
    const stalled = await Promise.all(
      ['/v1/customers', '/v1/usage-events'].flatMap((path) => [
        open(path, 'application/json'),
        open(path, 'application/json', announced),
      ]),
    );
    await untilRequestsArrived();
    const answers = stalled.map((socket) => text(socket));
    service.kill('SIGTERM');
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*"code":"service_unavailable"/);
    }
    expect(await ended).toEqual([0, null]);
  });

  it('does not wait for a body that begins after the signal, and carries out a request that comes whole', async () => {
    const begin = async (): Promise<Socket> => {
      const socket = await connectTo();
      socket.write('POST /v1/customers HTTP/1.1\r\nHost: localhost\r\n');
      return socket;
    };
    const [stalled, whole] = [await begin(), await begin()];
    await untilRequestsArrived();
    service.kill('SIGTERM');
    await until('it no longer listens', isRefused);
    const answers = [stalled, whole].map((socket) => text(socket));
    const rest = 'Content-Type: application/json\r\nContent-Length: 16\r\n\r\n{';
    stalled.write(rest);
    whole.write(`${rest}"name":"Whole"}`);
    const [refused = '', done = ''] = await Promise.all(answers);
    expect(refused).toMatch(/^HTTP\/1\.1 503 [^]*"code":"service_unavailable"/);
    expect(done).toMatch(/^HTTP\/1\.1 201 [^]*"name":"Whole"/);
    expect(await ended).toEqual([0, null]);
  });

  it('does not wait for clients that send nothing, half a head, or the rest of an answered request', async () => {
    const [, half, answered] = [await connectTo(), await connectTo(), await connectTo()];
    half.write('POST /v1/customers HTTP/1.1\r\nHost: localhost\r\n');
    answered.write('DELETE /v1/none HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
    await once(answered, 'data');
    await untilRequestsArrived();
    service.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('gives bodies a second that begin while it still listens', async () => {
    await monitor.query('BEGIN');
    await monitor.query('LOCK TABLE rate_limit_count');
    expect((await get('/v1/customers')).status).toBe(200);
    await untilSessionsWait(engine.database);
    service.kill('SIGTERM');
    await until('it is not ready', async () => (await get('/health/ready')).status === 503);
    const openJson = () => open('/v1/customers', 'application/json', 'Content-Length: 17');
    for (const [begin, body, answer] of [
      [openJson, '{"name":"Packet"}', /^HTTP\/1\.1 201 [^]*"name":"Packet"/],
      [openNdjson, `${chunk(linesOf(1))}${END}`, /^HTTP\/1\.1 200 [^]*"accepted":1/],
    ] as const) {
      const whole = await begin();
      expect((await get('/health/live')).status).toBe(200);
      whole.write(body);
      expect(await text(whole)).toMatch(answer);
      const stalled = await begin();
      expect(await text(stalled)).toMatch(/^HTTP\/1\.1 503 [^]*"code":"service_unavailable"/);
    }
    expect(await countLockWaits(engine.database)).toBe(1);
    await monitor.query('ROLLBACK');
    expect(await ended).toEqual([0, null]);
  });

  it('is not ready, although an exchange of request counts waits', async () => {
    await monitor.query('BEGIN');
    await monitor.query('LOCK TABLE rate_limit_count');
    expect((await get('/v1/customers')).status).toBe(200);
    await untilSessionsWait(engine.database);
    service.kill('SIGTERM');
    await until('it is not ready', async () => (await get('/health/ready')).status === 503);
    expect(await countLockWaits(engine.database)).toBe(1);
    await monitor.query('ROLLBACK');
    expect(await ended).toEqual([0, null]);
  });
});
