import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { createCustomer, stagedBodies } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

/** Number of long NDJSON requests that are read at a time, and share of one API key. */
const SLOTS = 4;
const SHARE = 2;
const BOOTSTRAP_KEY = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
/** More than stays in memory before lines are staged in a table. */
const MANY_LINES = 8_000;

describe('a client that starts a body and does not finish it', () => {
  let engine: TestApp;
  /** A second engine on the same database, with a short time limit and few connections. */
  let strict: TestApp;
  let monitor: Client;
  let customer: string;
  let serial = 0;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    engine = await startTestApp();
    strict = await startTestApp({
      databaseUrl: engine.databaseUrl,
      environment: { NDJSON_IDLE_TIMEOUT_MS: '300', DATABASE_POOL_SIZE: '5' },
    });
    monitor = new Client({ connectionString: engine.databaseUrl });
    await monitor.connect();
    customer = await createCustomer(engine);
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    // Otherwise tables of this test could count as those of the next one.
    await until('nothing is staged', async () => (await staging()) === 0);
  });

  afterAll(async () => {
    await monitor.end();
    await strict.close();
    await engine.close();
  });

  const linesOf = (count: number): string =>
    Array.from(
      { length: count },
      () =>
        `${JSON.stringify({
          idempotency_key: `stalled-${(serial += 1)}`,
          customer_id: customer,
          event_name: 'stalled',
          timestamp: '2026-03-01T00:00:00Z',
        })}\n`,
    ).join('');

  /** Sends the head of a request without its body. */
  async function open(to: TestApp, path: string, ...headers: string[]): Promise<Socket> {
    const socket = connect({ port: Number(new URL(await to.app.getUrl()).port), noDelay: true });
    sockets.add(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write([`POST ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n'));
    return socket;
  }

  const openNdjson = (to: TestApp, ...headers: string[]): Promise<Socket> =>
    open(
      to,
      '/v1/usage-events',
      'Content-Type: application/x-ndjson',
      'Transfer-Encoding: chunked',
      ...headers,
    );

  const chunk = (piece: string | Buffer): Buffer =>
    Buffer.concat([
      Buffer.from(`${Buffer.byteLength(piece).toString(16)}\r\n`),
      Buffer.from(piece),
      Buffer.from('\r\n'),
    ]);

  const END = '0\r\n\r\n';

  /** Opens a request that keeps a slot, and has staged lines. */
  async function hold(to = engine, ...headers: string[]): Promise<Socket> {
    const socket = await openNdjson(to, 'Connection: close', ...headers);
    socket.write(chunk(linesOf(MANY_LINES)));
    return socket;
  }

  const staging = (): Promise<number> => stagedBodies(monitor);

  async function stored(): Promise<number> {
    const { rows } = await monitor.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM usage_event`,
    );
    return rows[0]?.count ?? 0;
  }

  const send = (to: TestApp, lines: string) =>
    to.http
      .post('/v1/usage-events')
      .set('Content-Type', 'application/x-ndjson')
      .serialize(String)
      .send(lines);

  it('gets an error, stores nothing, and frees its slot', async () => {
    const before = await stored();
    const stalled = await Promise.all([
      openNdjson(strict),
      openNdjson(strict),
      openNdjson(strict),
      openNdjson(strict, 'Content-Encoding: gzip'),
    ]);
    const [, oneLine, manyLines, packed] = stalled;
    oneLine.write(chunk(linesOf(1)));
    manyLines.write(chunk(linesOf(MANY_LINES)));
    packed.write(chunk(gzipSync(linesOf(MANY_LINES)).subarray(0, -100)));
    const answers = stalled.map((socket) => text(socket));
    const other = await send(strict, linesOf(3));
    expect([other.status, other.body]).toMatchObject([200, { accepted: 3 }]);
    // Each connection is closed by the service; otherwise this would wait forever.
    for (const answer of await Promise.all(answers)) {
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 408 /);
      expect(head).toMatch(/^connection: close$/im);
      expect(body).toContain('"code":"request_timeout"');
    }
    await until('nothing is staged', async () => (await staging()) === 0);
    expect(await stored()).toBe(before + 3);
  });

  it('does not keep others waiting while its body is short, however many such clients there are', async () => {
    const stalled = await Promise.all(Array.from({ length: 3 * SLOTS }, () => openNdjson(engine)));
    let answers = 0;
    for (const [place, socket] of stalled.entries()) {
      socket.on('data', () => (answers += 1));
      socket.write(chunk(place % 2 === 0 ? '\n' : linesOf(1)));
    }
    for (const count of [3, MANY_LINES]) {
      expect((await send(engine, linesOf(count))).body).toMatchObject({ accepted: count });
    }
    expect(answers).toBe(0);
  });

  it('keeps no transaction open, which would delay seals of the audit log', async () => {
    const holder = await hold();
    await until('its lines are staged', async () => (await staging()) === 1);
    await until('no transaction is open', async () => {
      const { rowCount } = await monitor.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`,
      );
      return rowCount === 0;
    });
    const answer = text(holder);
    holder.write(END);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['10', SHARE],
    ['3', 1],
  ])('leaves slots to other API keys, with %s connections', async (pool, share) => {
    const keyed = await startTestApp({
      databaseUrl: engine.databaseUrl,
      environment: {
        AUTH: 'required',
        BOOTSTRAP_API_KEY: BOOTSTRAP_KEY,
        DATABASE_POOL_SIZE: pool,
      },
    });
    try {
      const { body } = await keyed.http
        .post('/v1/api-keys')
        .set('Authorization', `Bearer ${BOOTSTRAP_KEY}`)
        .send({ name: 'Slow', scopes: ['usage:write'] });
      const slow = `Authorization: Bearer ${(body as { secret: string }).secret}`;
      const holders = await Promise.all(Array.from({ length: 2 * SLOTS }, () => hold(keyed, slow)));
      await until('its slots are taken', async () => (await staging()) === share);
      const lines = linesOf(MANY_LINES);
      const other = send(keyed, lines).set('Authorization', `Bearer ${BOOTSTRAP_KEY}`);
      expect((await other).body).toMatchObject({ accepted: MANY_LINES });
      // The table of the answered request is dropped after its answer.
      await until('only its slots are taken', async () => (await staging()) === share);
      const answers = holders.map((socket) => text(socket));
      for (const holder of holders) holder.write(END);
      for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    } finally {
      await keyed.close();
    }
  });

  it('waits for a slot without a connection, and leaves it to others when it gives up', async () => {
    const before = await stored();
    const holders = await Promise.all(Array.from({ length: SLOTS }, () => hold()));
    await until('all slots are taken', async () => (await staging()) === SLOTS);
    const [gone, other] = [await hold(), await hold()];
    gone.destroy();
    other.write(END);
    // A request with a single event does not wait for a slot.
    const single = { ...JSON.parse(linesOf(1)) } as object;
    expect((await engine.http.post('/v1/usage-events').send(single)).status).toBe(200);
    expect(await staging()).toBe(SLOTS);

    const answers = [...holders, other].map((socket) => text(socket));
    for (const holder of holders) holder.write(END);
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(await stored()).toBe(before + 1 + (SLOTS + 1) * MANY_LINES);

    await Promise.all(Array.from({ length: SLOTS }, () => hold()));
    await until('all slots are free again', async () => (await staging()) === SLOTS);
  });

  it.each([['Content-Length: 100'], ['Transfer-Encoding: chunked']])(
    'uses only its connection with a JSON body (%s)',
    async (length) => {
      const start = '{"name":"A';
      const stalled = await Promise.all(
        ['/v1/customers', '/v1/usage-events'].flatMap((path) =>
          Array.from({ length: 10 }, () =>
            open(strict, path, 'Content-Type: application/json', length),
          ),
        ),
      );
      for (const socket of stalled) {
        socket.write(length.endsWith('chunked') ? chunk(start) : start);
      }
      const answer = await strict.http.post('/v1/customers').send({ name: 'Ada' });
      expect(answer.status).toBe(201);
      expect((await send(strict, linesOf(MANY_LINES))).body).toMatchObject({
        accepted: MANY_LINES,
      });
      expect(stalled.every(({ destroyed }) => !destroyed)).toBe(true);
    },
  );

  it('is not ended by a limit on the whole time of a request', () => {
    expect(strict.app.getHttpServer()).toMatchObject({ requestTimeout: 0, timeout: 3_600_000 });
  });
});
