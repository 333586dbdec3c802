import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { askDataDirectory } from '../../packages/embedded-postgres/connection';
import { isOutage, openConnection } from '../../src/platform/database';
import { selfSignedCertificate } from '../support/certificate';
import { runCommand } from '../support/command';
import { DatabaseProxy } from '../support/database-proxy';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { sessionOf } from '../support/process-sessions';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

/** A request for authentication with GSSAPI, which `pg` does not know. */
const GSSAPI = messageOf('R', [0, 0, 0, 7]);

/** The message with which a client asks for TLS. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

const UNREADABLE = [
  ['a request for GSSAPI', GSSAPI],
  ['a cut row description', messageOf('T', [0, 3, 65])],
  ['an unknown kind of message', messageOf('!', [])],
] as const;

function messageOf(kind: string, body: readonly number[]): Buffer {
  return Buffer.from([kind.charCodeAt(0), 0, 0, 0, body.length + 4, ...body]);
}

describe('an answer of the database that cannot be read', () => {
  let own: TestDatabase;
  let proxy: DatabaseProxy;
  let engine: TestApp;

  beforeAll(async () => {
    own = await createTestDatabase();
    proxy = await DatabaseProxy.before(own.url);
    engine = await startTestApp({ databaseUrl: proxy.url });
  });

  afterAll(async () => {
    await engine.close();
    await proxy.close();
    await own.drop();
  });

  const createOne = () => engine.http.post('/v1/customers').send({ name: 'Ada Lovelace' });

  /** Replaces the answer to the next statement of this kind. */
  function garbleOnce(kind: RegExp, answer: Buffer): void {
    let isDone = false;
    proxy.inject((statement) => {
      if (isDone || !kind.test(statement)) return null;
      isDone = true;
      return { kind: 'garble', answer };
    });
  }

  it.each(UNREADABLE)('to a commit leaves its outcome unknown: %s', async (_, answer) => {
    garbleOnce(/^COMMIT/, answer);
    const { status, body } = await createOne();
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 'outcome_unknown' } });
    await createOne().expect(201);
  });

  it.each(UNREADABLE)('to another statement has no effect: %s', async (_, answer) => {
    garbleOnce(/INSERT INTO "?customer"?/, answer);
    const { status, body } = await createOne();
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    await createOne().expect(201);
  });

  it.each(UNREADABLE)('to COPY counts as an outage: %s', async (_, answer) => {
    garbleOnce(/^COPY/, answer);
    const copied = engine.database.withConnection(async (connection) => {
      await connection.run('CREATE TEMP TABLE copied (number integer)');
      await connection.copy('copied', Buffer.from('1\n'));
    });
    expect(isOutage(await copied.catch((error: unknown) => error))).toBe(true);
  });

  it('to every connection makes the service unavailable until it ends', async () => {
    const worker = await startTestApp({ databaseUrl: proxy.url, environment: { ROLE: 'worker' } });
    proxy.garble(GSSAPI);
    proxy.cut();
    const { status, body } = await createOne();
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    const processes = [engine, worker];
    const numbers = () => processes.map((each) => sessionOf(each).number);
    await until('the sessions are lost', () => numbers().every((number) => number === null));
    proxy.garble(null);
    await until('the sessions are back', () => numbers().every((number) => number !== null));
    await worker.close();
    await engine.http.get('/health/ready').expect(200);
    await createOne().expect(201);
  });
});

describe('a server that asks for GSSAPI', () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      if (!bytes.equals(TLS_REQUEST)) {
        socket.write(GSSAPI);
        return;
      }
      socket.write('S');
      const secured = new TLSSocket(socket, { isServer: true, ...selfSignedCertificate() });
      secured.on('error', () => undefined);
      secured.once('data', () => secured.write(GSSAPI));
    });
  });
  let port: number;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  afterAll(() => server.close());

  it('ends a start with an explanation', async () => {
    const ended = await runCommand('main', [], {
      databaseUrl: `postgres://billing:secret@127.0.0.1:${port}/billing`,
      environment: { LOG_LEVEL: 'fatal', AUTH: 'required' },
    });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(
      /^Cannot use the database \(.*authentication.*\)\. Check DATABASE_URL/,
    );
  });

  it('refuses a connection with TLS', async () => {
    const url = `postgres://billing:secret@127.0.0.1:${port}/billing?sslmode=no-verify`;
    const error: unknown = await openConnection(url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: 'Unknown authenticationOk message type 7' });
    expect(isOutage(error)).toBe(true);
  });

  it('is not taken for the embedded server', async () => {
    expect(await askDataDirectory({ port, password: 'secret' })).toBeUndefined();
  });
});
