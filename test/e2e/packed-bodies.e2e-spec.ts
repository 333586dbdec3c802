import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const MIB = 2 ** 20;
/** A line of spaces of the maximum length. */
const BLANK_LINE = Buffer.concat([Buffer.alloc(MIB - 1, ' '), Buffer.from('\n')]);

describe('compressed bodies', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const send = (type: string, encoding: string, body: Buffer, path = '/v1/usage-events') =>
    engine.http
      .post(path)
      .set({ 'Content-Type': type, 'Content-Encoding': encoding })
      .serialize((sent: Buffer) => sent as unknown as string)
      .send(body);

  /** Announces a body of `bytes` bytes, and sends only its start. */
  const announce = async (
    headers: string[],
    bytes: number,
    first: Buffer | string,
    path = '/v1/usage-events',
  ) => {
    const { port } = new URL(await engine.app.getUrl());
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const lines = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...headers];
    socket.write(`${lines.join('\r\n')}\r\nContent-Length: ${bytes}\r\n\r\n`);
    socket.write(first);
    return socket;
  };

  it.each(['application/x-ndjson', 'application/json'])(
    'in Brotli, of %s, are refused before decompression',
    async (type) => {
      const lines = Buffer.concat(Array.from({ length: 64 }, () => BLANK_LINE));
      const bomb = brotliCompressSync(lines, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
      const answer = await send(type, 'br', bomb);
      expect(answer.status).toBe(415);
      expect(answer.headers['accept-encoding']).toBe('gzip, deflate');
      expect(answer.body).toMatchObject({ code: 'unsupported_media_type' });
    },
  );

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ])('in %s are read', async (encoding, pack) => {
    const lines = Array.from({ length: 100 }, () => '{}\n').join('');
    const usage = await send('application/x-ndjson', encoding, pack(lines));
    expect(usage.body).toMatchObject({ accepted: 0 });
    expect((usage.body as { rejected: unknown[] }).rejected).toHaveLength(100);
    const customer = JSON.stringify({ name: 'Ada Lovelace' });
    const made = await send('application/json', encoding, pack(customer), '/v1/customers');
    expect(made.status).toBe(201);
  });

  it('that are flushed after each of many lines are read', async () => {
    const customer = await createCustomer(engine);
    const sent = request(`${await engine.app.getUrl()}/v1/usage-events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson', 'Content-Encoding': 'gzip' },
    });
    const answer = once(sent, 'response') as Promise<[IncomingMessage]>;
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    gzip.pipe(sent);
    for (let index = 0; index < 5_000; index += 1) {
      const event = {
        idempotency_key: `flushed-${index}`,
        customer_id: customer,
        event_name: 'calls',
        timestamp: '2026-03-01T00:00:00Z',
      };
      gzip.write(`${JSON.stringify(event)}\n`);
    }
    gzip.end();
    const [received] = await answer;
    expect(await json(received)).toMatchObject({ accepted: 5_000, rejected: [] });
  });

  it.each([
    ['no gzip', '/v1/session', 'application/json', 'gzip', Buffer.alloc(1_000, 'A')],
    ['no deflate', '/v1/session', 'application/json', 'deflate', Buffer.alloc(1_000, 'A')],
    [
      'plain JSON that is called gzip',
      '/v1/usage-events',
      'application/json',
      'gzip',
      Buffer.alloc(342_000, '{"events":[]}'),
    ],
    ['no gzip', '/v1/usage-events', 'application/x-ndjson', 'gzip', Buffer.alloc(1_000, 'A')],
    [
      'gzip with other bytes after it',
      '/v1/usage-events',
      'application/x-ndjson',
      'gzip',
      Buffer.concat([gzipSync('{}\n'), Buffer.alloc(1_000, 'A')]),
    ],
    ['no gzip', '/v1/providers/stripe/webhooks', 'application/json', 'gzip', Buffer.alloc(1_000)],
  ])(
    'with %s (%s, %s) are refused, and the connection serves the next request',
    async (_, path, type, encoding, body) => {
      const headers = [`Content-Type: ${type}`, `Content-Encoding: ${encoding}`];
      // The rest arrives after the service has refused the start.
      const start = body.subarray(0, 800);
      const socket = await announce(headers, body.length, start, path);
      try {
        expect(await answerOf(socket, 60_000)).toMatch(/^HTTP\/1.1 400 /);
        socket.write(body.subarray(start.length));
        socket.write('GET /v1/customers HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
        expect(await answerOf(socket, 60_000)).toMatch(/^HTTP\/1.1 200 /);
      } finally {
        socket.destroy();
      }
    },
  );

  it('that expand to a hundred times their size are refused before they are read to the end', async () => {
    const bomb = gzipSync(Buffer.concat(Array.from({ length: 64 }, () => BLANK_LINE)));
    const headers = ['Content-Type: application/x-ndjson', 'Content-Encoding: gzip'];
    const socket = await announce(headers, bomb.length, bomb.subarray(0, bomb.length / 4));
    try {
      const answer = await answerOf(socket, 60_000);
      expect(answer).toMatch(/^HTTP\/1.1 413 /);
      expect(answer).toContain('"payload_too_large"');
    } finally {
      socket.destroy();
    }
  });

  it('count with the memory that they take, not with the largest size', async () => {
    const body = gzipSync(JSON.stringify({ events: [] }));
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => send('application/json', 'gzip', body)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('that expand beyond the limit are refused before they are read to the end', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MIB, ' '));
    const headers = ['Content-Type: application/json', 'Content-Encoding: gzip'];
    const socket = await announce(headers, bomb.length, bomb.subarray(0, bomb.length / 2));
    try {
      expect(await answerOf(socket, 60_000)).toMatch(/^HTTP\/1.1 413 /);
    } finally {
      socket.destroy();
    }
  });

  it('that expand take the memory of their size, beyond which they are refused', async () => {
    const sockets: Socket[] = [];
    // Each takes 19 MiB, and waits for its last byte.
    const body = gzipSync(Buffer.concat([Buffer.from('{"events":['), Buffer.alloc(19 * MIB, ' ')]));
    const begin = async (): Promise<Socket> => {
      const socket = await announce(
        ['Content-Type: application/json', 'Content-Encoding: gzip'],
        body.length,
        body.subarray(0, -1),
      );
      sockets.push(socket);
      return socket;
    };
    try {
      for (let count = 0; count < 6; count += 1) await begin();
      await until('a further one is refused', async () => {
        return /^HTTP\/1.1 503 /.test(await answerOf(await begin(), 1_000));
      });
      await engine.http.post('/v1/customers').send({ name: 'Grace Hopper' }).expect(201);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it('share a memory limit, beyond which large ones are refused and small ones still read', async () => {
    const sockets: Socket[] = [];
    const announceLarge = async (): Promise<Socket> => {
      const socket = await announce(['Content-Type: application/json'], 20 * MIB, '{');
      sockets.push(socket);
      return socket;
    };
    try {
      for (let count = 0; count < 6; count += 1) await announceLarge();
      await until('a large body is refused', async () => {
        const answer = await answerOf(await announceLarge(), 1_000);
        return /^HTTP\/1.1 503 /.test(answer) && /^retry-after: 2$/im.test(answer);
      });
      await engine.http.post('/v1/customers').send({ name: 'Grace Hopper' }).expect(201);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    const large = { events: [{ nonsense: 'x'.repeat(19 * MIB) }] };
    await until('a large body is read', async () => {
      return (await engine.http.post('/v1/usage-events').send(large)).status === 200;
    });
  });
});

/** Returns the response to an incomplete request; empty if none arrives in time. */
function answerOf(socket: Socket, milliseconds: number): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (data) => {
      resolve(data.toString());
    });
    socket.setTimeout(milliseconds, () => {
      resolve('');
    });
  });
}
