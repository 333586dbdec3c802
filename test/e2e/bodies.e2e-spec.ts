import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { runInNewContext } from 'node:vm';
import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

/** `--expose-gc` is set by the environment of the tests. */
const collectGarbage = runInNewContext('gc') as () => void;

const PATH = '/v1/customers';

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

describe('a request body', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function open(): Promise<Socket> {
    const socket = connect({
      port: Number(new URL(await engine.app.getUrl()).port),
      noDelay: true,
    });
    await once(socket, 'connect');
    return socket;
  }

  const head = (...headers: string[]): string =>
    [`POST ${PATH} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join(
      '\r\n',
    );

  async function send(request: readonly Buffer[]): Promise<Answer> {
    const socket = await open();
    // The response may arrive, and the connection close, before the request has ended.
    socket.on('error', () => undefined);
    for (const part of request) await new Promise((resolve) => socket.write(part, resolve));
    const answer = await text(socket);
    const [status, ...rest] = answer.split('\r\n');
    return {
      status: Number(status?.slice(9, 12)),
      body: JSON.parse(rest.slice(rest.indexOf('') + 1).join('')) as Answer['body'],
    };
  }

  /** Sends the body with its Content-Length. */
  const withLength = (body: Buffer, type: string, parts = 1): Promise<Answer> => {
    const size = Math.ceil(body.length / parts);
    const pieces = Array.from({ length: parts }, (_, at) =>
      body.subarray(at * size, (at + 1) * size),
    );
    const [first = Buffer.alloc(0), ...others] = pieces;
    const start = head(`Content-Type: ${type}`, `Content-Length: ${body.length}`);
    return send([Buffer.concat([Buffer.from(start), first]), ...others]);
  };

  /** Sends the body in chunks, without its length. */
  const chunked = (body: Buffer, type: string): Promise<Answer> => {
    const start = head(`Content-Type: ${type}`, 'Transfer-Encoding: chunked');
    const size = `${body.length.toString(16)}\r\n`;
    return send([Buffer.concat([Buffer.from(start + size), body, Buffer.from('\r\n0\r\n\r\n')])]);
  };

  const shown = ({ status, body }: Answer): unknown[] => [
    status,
    body['code'],
    body['detail'],
    body['name'],
    body['errors'],
  ];

  const json = 'application/json';
  it.each<[string, Buffer, string]>([
    ['an object', Buffer.from('{"name":"Ada"}'), json],
    [
      'another letter case and a charset',
      Buffer.from('{"name":"Ada"}'),
      'Application/JSON; charset="UTF-8"',
    ],
    ['ASCII', Buffer.from('{"name":"Ada"}'), 'application/json; charset=us-ascii'],
    ['a byte order mark', Buffer.from('\uFEFF{"name":"Ada"}'), json],
    ['a byte order mark alone', Buffer.from('\uFEFF'), json],
    ['characters of several bytes', Buffer.from('{"name":"Zo\u00eb \u{1F600}"}'), json],
    ['invalid UTF-8', Buffer.from('{"name":"Zo\u00eb"}', 'latin1'), json],
    ['no JSON', Buffer.from('{"name":'), json],
    ['a list', Buffer.from('[]'), json],
    ['a text', Buffer.from('"Ada"'), json],
    ['null', Buffer.from('null'), json],
    ['white space', Buffer.from(' '), json],
    ['UTF-16', Buffer.from('{"name":"Ada"}', 'utf16le'), 'application/json; charset=utf-16le'],
    ['another parameter', Buffer.from('{"name":"Ada"}'), 'application/json; version=1'],
    ['another type', Buffer.from('name=Ada'), 'application/x-www-form-urlencoded'],
    ['more than a mebibyte', Buffer.from(`{"name":"${'x'.repeat(2 ** 20)}"}`), json],
    ['a mebibyte', Buffer.from(`{"name":"${'x'.repeat(2 ** 20 - 11)}"}`), json],
  ])('has the same result with a length and in chunks: %s', async (_, body, type) => {
    const plain = shown(await withLength(body, type));
    expect(plain).toEqual(shown(await chunked(body, type)));
    expect(shown(await withLength(body, type, 3))).toEqual(plain);
  });

  it.each([
    ['is not UTF-8', Buffer.from('{"name":"Zo\u00eb"}', 'latin1')],
    ['is not valid JSON', Buffer.from('{"name":')],
    ['is not valid JSON', Buffer.from(' ')],
  ])('is refused with the reason that it %s', async (reason, body) => {
    const refusal = { code: 'malformed_request', detail: `The body ${reason}.` };
    expect(await withLength(body, json)).toMatchObject({ status: 400, body: refusal });
    expect(await chunked(body, json)).toMatchObject({ status: 400, body: refusal });
  });

  it('with only a byte order mark counts as empty', async () => {
    const { status, body } = await withLength(Buffer.from('\uFEFF'), json);
    expect([status, body['code']]).toEqual([400, 'validation_failed']);
  });

  it('is read completely, however it is split', async () => {
    const answer = await withLength(Buffer.from('{"name":"Zo\u00eb"}'), json, 14);
    expect([answer.status, answer.body['name']]).toEqual([201, 'Zo\u00eb']);
  });

  it.each(['GET', 'DELETE'])(
    'of a %s is not read, and the next request on the connection is answered',
    async (method) => {
      const socket = await open();
      const answer = text(socket);
      const body = 'x'.repeat(2 ** 21);
      const lines = [
        `${method} ${PATH}/cus_none HTTP/1.1`,
        'Host: localhost',
        'Content-Type: text/plain',
        'Content-Encoding: br',
        `Content-Length: ${body.length}`,
      ];
      socket.write([...lines, '', body.slice(0, 10)].join('\r\n'));
      await once(socket, 'readable');
      socket.write(body.slice(10));
      socket.write(
        [`GET ${PATH} HTTP/1.1`, 'Host: localhost', 'Connection: close', '', ''].join('\r\n'),
      );
      expect((await answer).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
    },
  );

  it('that breaks off has no effect, and the service continues', async () => {
    const before = await engine.database.query('SELECT FROM customer');
    const socket = await open();
    const start = head(`Content-Type: ${json}`, 'Content-Length: 100');
    await new Promise((resolve) => socket.write(`${start}{"name":"Ada"`, resolve));
    socket.destroy();
    expect((await withLength(Buffer.from('{"name":"Ada"}'), json)).status).toBe(201);
    const after = await engine.database.query('SELECT FROM customer');
    expect(after.length - before.length).toBe(1);
  });

  it.each([
    [PATH, json, 'customer'],
    ['/v1/usage-events', 'application/x-ndjson', 'usage_event'],
  ])('to %s of very many tiny chunks is refused without an effect', async (path, type, table) => {
    const event = {
      idempotency_key: 'first',
      customer_id: await createCustomer(engine),
      event_name: 'calls',
      timestamp: '2026-03-01T00:00:00Z',
    };
    const start = path === PATH ? '{"name":"Ada"}' : `${JSON.stringify(event)}\n`;
    const count = async () => (await engine.database.query(`SELECT FROM ${table}`)).length;
    const before = await count();
    const lines = head(`Content-Type: ${type}`, 'Transfer-Encoding: chunked').replace(PATH, path);
    const chunks = `${start.length.toString(16)}\r\n${start}\r\n${'1\r\n \r\n'.repeat(2_000)}`;
    const answer = await send([Buffer.from(`${lines}${chunks}0\r\n\r\n`)]);
    expect([answer.status, answer.body['code']]).toEqual([400, 'malformed_request']);
    expect(answer.body['detail']).toContain('Send larger chunks.');
    expect((await withLength(Buffer.from('{"name":"Ada"}'), json)).status).toBe(201);
    expect((await count()) - before).toBe(table === 'customer' ? 1 : 0);
  });

  it('is not kept by its idle connection once it was answered', async () => {
    const requests: WeakRef<IncomingMessage>[] = [];
    engine.app.getHttpServer().once('request', (request: IncomingMessage) => {
      requests.push(new WeakRef(request));
    });
    const socket = await open();
    const body = JSON.stringify({ name: 'Ada', metadata: { note: 'x'.repeat(400) } });
    socket.write(
      [
        `POST ${PATH} HTTP/1.1`,
        'Host: localhost',
        `Content-Type: ${json}`,
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    );
    await once(socket, 'readable');
    expect(String(socket.read())).toContain('HTTP/1.1 201');
    await until('the request is released', () => {
      collectGarbage();
      return requests[0]?.deref() === undefined;
    });
    expect([requests.length, socket.readable]).toEqual([1, true]);
    socket.destroy();
  });
});
