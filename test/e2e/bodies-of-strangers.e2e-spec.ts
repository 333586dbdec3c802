import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Lifecycle } from '../../src/platform/observability';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

/** More bodies of 64 KiB than all budgets for bodies in flight hold. */
const SOCKETS = 600;

/** The start of a gzip file whose blocks hold nothing, in 2,000 chunks of 8 bytes. */
const TINY_CHUNKS = Buffer.from(`1f8b0800000000000003${'000000ffff'.repeat(3_198)}`, 'hex')
  .toString('latin1')
  .replace(/.{8}/gs, '8\r\n$&\r\n');

describe('a caller without a credential', () => {
  let engine: TestApp;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    engine = await startTestApp({ environment: { ...WITH_KEYS, TRUST_PROXY: '1' } });
  });

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  afterAll(() => engine.close());

  /** Begins a request, and sends the first byte of its body once the service has read its headers. */
  async function begin(target: string, bytes: number): Promise<Socket> {
    const socket = connect({ port: Number(new URL(await engine.app.getUrl()).port) });
    socket.on('error', () => undefined);
    socket.write(
      `${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\nExpect: 100-continue\r\n\r\n`,
    );
    sockets.push(socket);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 100 /);
    socket.write('{');
    return socket;
  }

  const createCustomer = () =>
    engine.uncheckedHttp.post('/v1/customers').set(bearing(BOOTSTRAP_KEY)).send({ name: 'Ada' });

  it.each([
    ['POST /v1/session', 65_536],
    ['POST /v1/session', 1_048_576],
    ['GET /health/live', 65_536],
  ])('cannot use up the memory for bodies of others with %s of %d bytes', async (target, bytes) => {
    for (let index = 0; index < SOCKETS; index += 1) await begin(target, bytes);
    await createCustomer().expect(201);
    const large = { name: 'Ada', metadata: { note: 'x'.repeat(70_000) } };
    const answer = await createCustomer().send(large);
    // Read, and refused for what it holds.
    expect(answer.status).toBe(400);
  });

  it('is answered when it does not send its body', async () => {
    const socket = await begin('POST /v1/session', 100);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"code":"request_timeout"');
    // Nothing of the request is kept.
    await until('no body is read', () => engine.app.get(Lifecycle).bodiesInFlight === 0);
  });

  it('gets an answer to a read that has a body, which is not read', async () => {
    const { status } = await engine.uncheckedHttp
      .get('/health/live')
      .set('Content-Type', 'application/json')
      .send('[[[');
    expect(status).toBe(200);
  });

  it('is refused a sign-in of more than 16 KiB', async () => {
    const { status, body } = await engine.uncheckedHttp
      .post('/v1/session')
      .send({ email: 'ada@example.com', password: 'x'.repeat(17_000) });
    expect([status, body]).toEqual([413, expect.objectContaining({ code: 'payload_too_large' })]);
  });

  it.each([
    ['/v1/providers/stripe/webhooks', ''],
    ['/v1/providers/stripe/webhooks', 'Content-Encoding: gzip\r\n'],
    ['/v1/session', 'Content-Encoding: gzip\r\n'],
    ['/v1/session', ''],
  ])('is refused a body of very many tiny chunks by %s %s', async (path, encoding) => {
    const answerTo = async (chunks: string): Promise<string> => {
      const socket = connect({ port: Number(new URL(await engine.app.getUrl()).port) });
      socket.on('error', () => undefined);
      sockets.push(socket);
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n${encoding}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
        'latin1',
      );
      return text(socket);
    };
    const refused = await answerTo(TINY_CHUNKS);
    expect(refused).toMatch(/^HTTP\/1.1 400 /);
    expect(refused).toContain('Send larger chunks.');
    // A large chunk makes up for small ones.
    const mixed = `${'1\r\n \r\n'.repeat(20)}600\r\n${' '.repeat(1_536)}\r\n`;
    expect(await answerTo(mixed.repeat(100))).not.toContain('Send larger chunks.');
    await createCustomer().expect(201);
  });

  it('is refused whatever it writes into X-Forwarded-For', async () => {
    const { status } = await engine.uncheckedHttp
      .post('/v1/session')
      .set('X-Forwarded-For', 'x'.repeat(300))
      .send({ email: 'ada@example.com', password: 'wrong' });
    expect(status).toBe(401);
  });
});

describe('a caller with a credential', () => {
  let engine: TestApp;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    engine = await startTestApp({ environment: WITH_KEYS });
  });

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  afterAll(() => engine.close());

  /** Begins a request that announces a body and sends none of it. */
  async function announce(secret: string, path: string, bytes: number): Promise<void> {
    const socket = connect({ port: Number(new URL(await engine.app.getUrl()).port) });
    socket.on('error', () => undefined);
    sockets.push(socket);
    const { Authorization } = bearing(secret);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${Authorization}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\nExpect: 100-continue\r\n\r\n`,
    );
    // The service has read the headers.
    await once(socket, 'data');
  }

  const createCustomer = (body: object) =>
    engine.http.post('/v1/customers').set(bearing(BOOTSTRAP_KEY)).send(body);

  it.each([
    ['/v1/customers', 65_536, 256],
    ['/v1/usage-events', 20 * 2 ** 20, 3],
  ])('can use up half of the memory for bodies to %s of %d bytes', async (path, bytes, most) => {
    const { secret } = await createKey(engine, 'usage:write', 'customers:write');
    for (let count = 0; count < 2 * most + 1; count += 1) await announce(secret, path, bytes);
    const own = await engine.http
      .post(path)
      .set(bearing(secret))
      .send({ name: 'x'.repeat(bytes - 11) });
    expect([own.status, own.body]).toEqual([
      503,
      expect.objectContaining({ code: 'service_unavailable' }),
    ]);
    await createCustomer({ name: 'Ada' }).expect(201);
    // Read, and refused for what it holds.
    expect((await createCustomer({ name: 'x'.repeat(70_000) })).status).toBe(400);
  });

  it('that is a customer token sends no body at all', async () => {
    const { body: customer } = await createCustomer({ name: 'Grace' }).expect(201);
    const { body } = await engine.http
      .post(`/v1/customers/${(customer as { id: string }).id}/tokens`)
      .set(bearing(BOOTSTRAP_KEY))
      .send({})
      .expect(201);
    const { token: secret } = body as { token: string };
    const { status, body: refusal } = await engine.http
      .post('/v1/usage-events')
      .set(bearing(secret))
      .send({ events: [] });
    expect([status, refusal]).toEqual([
      403,
      expect.objectContaining({ code: 'not_for_customer_token' }),
    ]);
    for (let index = 0; index < 10; index += 1) {
      await announce(secret, '/v1/usage-events', 20 * 2 ** 20);
    }
    await createCustomer({ name: 'Ada', metadata: { note: 'x'.repeat(400) } }).expect(201);
  });
});

it.each(['/v1/usage-events', '/v1/customers'])(
  'JSON of very many lists is refused by %s before it is parsed',
  async (path) => {
    const engine = await startTestApp();
    const { status, body } = await engine.http
      .post(path)
      .set('Content-Type', 'application/json')
      .send(`{"events":${'['.repeat(500_000)}`);
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ detail: expect.stringContaining('nested too deep') as unknown }),
    ]);
    await engine.close();
  },
);
