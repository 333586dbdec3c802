import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Configuration } from '../../src/platform/config';
import { OutboundHttp, type OutboundRequest } from '../../src/platform/outbound';
import { webhookPolicy } from '../../src/platform/outbound/outbound.module';
import { HostResolver, SystemResolver } from '../../src/platform/outbound/resolver';
import { selfSignedCertificate } from '../support/certificate';
import type { CallReport } from '../support/outbound-call';
import { listen, rawReceiver, type Receiver } from '../support/raw-receivers';
import { until } from '../support/until';

const run = promisify(execFile);

const SHORT_MS = 200;
/** Longer than an answer of this machine takes, also while it is busy. */
const MEDIUM_MS = 2_000;
const LONG_MS = 15_000;
/** How late a busy machine may notice that a time limit has passed. */
const SLACK_MS = 10_000;
const EMPTY_200 = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/** Writes the same text repeatedly until the other side closes the connection. */
function repeat(socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once('close', () => clearInterval(timer));
}

/** Writes as fast as the other side reads. */
function flood(socket: Socket, chunk: Buffer): void {
  const write = (): void => {
    while (socket.writable && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
}

class SilentResolver extends HostResolver {
  override resolve(): Promise<readonly string[]> {
    return new Promise(() => undefined);
  }
}

describe('a call to a webhook receiver', () => {
  const certificate = selfSignedCertificate();
  const configuration = new Configuration({ WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' });
  let http: OutboundHttp;
  let receivers: Receiver[];

  beforeEach(() => {
    http = new OutboundHttp(webhookPolicy(configuration), new SystemResolver());
    receivers = [];
  });

  afterEach(async () => {
    http.close();
    for (const receiver of receivers) await receiver.close();
  });

  function post(url: string, options: Partial<OutboundRequest> = {}) {
    return http.post({
      url,
      headers: {},
      body: '{}',
      deadlineMs: LONG_MS,
      keepBytes: 1_000,
      ...options,
    });
  }

  async function started(receiver: Promise<Receiver>): Promise<Receiver> {
    receivers.push(await receiver);
    return receiver;
  }

  async function urlOf(behave: (socket: Socket) => void): Promise<string> {
    return `http://127.0.0.1:${(await started(rawReceiver(behave))).port}/`;
  }

  const failures: readonly (readonly [
    what: string,
    reason: string,
    behave: (socket: Socket) => void,
  ])[] = [
    ['says nothing', 'timeout', () => undefined],
    [
      'answers one header a moment',
      'timeout',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        repeat(socket, 'X-More: 1\r\n', 10);
      },
    ],
    [
      'answers one byte a moment',
      'timeout',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
        repeat(socket, '.', 10);
      },
    ],
    [
      'never ends its answer',
      'timeout',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'),
    ],
    [
      'says again and again that it goes on',
      'timeout',
      (socket) => repeat(socket, 'HTTP/1.1 102 Processing\r\n\r\n', 10),
    ],
    ['resets the connection', 'reset', (socket) => socket.resetAndDestroy()],
    ['closes the connection', 'reset', (socket) => socket.end()],
    ['closes after half of the head', 'reset', (socket) => socket.end('HTTP/1.1 200 OK\r\nX-')],
    [
      'closes after half of the body',
      'reset',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab'),
    ],
    [
      'switches to another protocol',
      'reset',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    ],
    [
      'speaks another protocol',
      'malformed',
      (socket) => socket.write('220 mail.example ESMTP\r\n'),
    ],
    ['answers with no status', 'malformed', (socket) => socket.write('HTTP/1.1 OK\r\n\r\n')],
    [
      'answers with a broken header',
      'malformed',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nX Y: 1\r\n\r\n'),
    ],
    [
      'answers with two lengths',
      'malformed',
      (socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    ],
    [
      'answers with a broken chunk',
      'malformed',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'),
    ],
    [
      'answers with a header that is too long',
      'malformed',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    ],
    [
      'answers with headers for ever',
      'malformed',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        flood(socket, Buffer.from('X-More: 1\r\n'.repeat(1_000)));
      },
    ],
  ];

  it.each(failures)('that %s fails: %s', async (_, reason, behave) => {
    const url = await urlOf(behave);
    const deadlineMs = reason === 'timeout' ? SHORT_MS : LONG_MS;
    const startedAt = performance.now();
    const failed: unknown = await post(url, { deadlineMs }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ reason, durationMs: expect.any(Number) });
    const elapsedMs = performance.now() - startedAt;
    if (reason === 'timeout') expect(elapsedMs).toBeGreaterThanOrEqual(SHORT_MS - 2);
    expect(elapsedMs).toBeLessThan(SHORT_MS + SLACK_MS);
  });

  it('with nothing listening fails', async () => {
    const gone = await rawReceiver(() => undefined);
    await gone.close();
    await expect(post(`http://127.0.0.1:${gone.port}/`)).rejects.toMatchObject({
      reason: 'refused',
    });
  });

  it('with a name that is not resolved in time fails at the deadline', async () => {
    const silent = new OutboundHttp(webhookPolicy(configuration), new SilentResolver());
    const request = { headers: {}, body: '{}', deadlineMs: SHORT_MS, keepBytes: 0 };
    const call = silent.post({ ...request, url: 'http://silent.example/' });
    await expect(call).rejects.toMatchObject({ reason: 'timeout' });
    silent.close();
  });

  it('ends at the deadline, and closes the connection', async () => {
    let isClosed = false;
    const url = await urlOf((socket) => socket.once('close', () => (isClosed = true)));
    // On a busy machine, the deadline can pass before the receiver has the request.
    await until('the connection of a request is closed', async () => {
      await expect(post(url, { deadlineMs: SHORT_MS })).rejects.toMatchObject({
        reason: 'timeout',
      });
      return isClosed;
    });
  });

  it('keeps the start of an endless body, and closes the connection', async () => {
    let noteClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (noteClosed = resolve));
    const url = await urlOf((socket) => {
      socket.once('close', noteClosed);
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
      flood(socket, Buffer.alloc(16_384, 'x'));
    });
    const answer = await post(url, { keepBytes: 20_000 });
    expect(answer).toMatchObject({ status: 200, bodyStart: 'x'.repeat(20_000) });
    await closed;
  });

  it('succeeds when the wanted part of the body has arrived, and holds no connection afterwards', async () => {
    let noteClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (noteClosed = resolve));
    const url = await urlOf((socket) => {
      socket.once('close', noteClosed);
      socket.write('HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 99\r\n\r\nabc');
    });
    const startedAt = performance.now();
    const answer = await post(url, { keepBytes: 3, deadlineMs: MEDIUM_MS });
    expect(answer).toMatchObject({ status: 503, retryAfter: '7', bodyStart: 'abc' });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(MEDIUM_MS - 2);
    await closed;
  });

  it('does not wait for hundreds of other calls to the same host that get no answer', async () => {
    const server = createHttpServer((request, response) => {
      request.resume();
      if (request.url === '/answers') response.end();
    });
    const receiver = await started(listen(server, '127.0.0.1'));
    const at = `http://127.0.0.1:${receiver.port}`;
    const hanging = Array.from({ length: 300 }, () => post(`${at}/hangs`));
    const ended = Promise.allSettled(hanging);
    expect((await post(`${at}/answers`)).status).toBe(200);
    http.close();
    await ended;
  });

  it.each([
    ['a NUL', Buffer.from('a\0b'), 'a\u{fffd}b'],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0xc3]), 'a\u{fffd}\u{fffd}'],
    ['a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80]), '\u{fffd}\u{fffd}\u{fffd}'],
    ['a character cut in two', Buffer.from('aaé'), 'aa\u{fffd}'],
    ['more than is kept', Buffer.from('abcdef'), 'abc'],
    ['nothing', Buffer.alloc(0), ''],
  ])('converts %s to text that can be stored', async (_, body, text) => {
    const url = await urlOf((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    expect((await post(url, { keepBytes: 3 })).bodyStart).toBe(text);
  });

  it.each([
    ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(3)],
  ])('waits for the final response after a %s', async (_, before) => {
    const url = await urlOf((socket) => socket.write(before + EMPTY_200));
    expect((await post(url)).status).toBe(200);
  });

  it('identifies the caller, and sends the given headers and body', async () => {
    const requests: (Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string })[] = [];
    const server = createHttpServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (text: string) => (body += text));
      request.on('end', () => {
        const { method, url, headers } = request;
        requests.push({ method, url, headers, body });
        response.end();
      });
    });
    const { port } = await started(listen(server, '127.0.0.1'));
    const body = '{"text":"é"}';
    await post(`http://127.0.0.1:${port}/a%20b?c=d`, { body, headers: { 'webhook-id': 'evt_1' } });
    await post(`http://127.0.0.1:${port}`, {
      headers: { 'content-type': 'text/plain', 'USER-AGENT': 'other', 'content-length': '999' },
    });
    expect(requests).toEqual([
      {
        method: 'POST',
        url: '/a%20b?c=d',
        body,
        headers: {
          host: `127.0.0.1:${port}`,
          'user-agent': expect.stringMatching(/^billing-engine\/\d+\.\d+\.\d+/),
          'content-type': 'application/json',
          'content-length': '13',
          'webhook-id': 'evt_1',
          connection: 'keep-alive',
        },
      },
      expect.objectContaining({
        url: '/',
        body: '{}',
        headers: expect.objectContaining({
          'user-agent': 'other',
          'content-type': 'text/plain',
          'content-length': '2',
        }),
      }),
    ]);
  });

  it('reuses a connection, also after a body longer than wanted', async () => {
    const server = createHttpServer((request, response) => {
      request.resume();
      response.end('x'.repeat(30_000));
    });
    const receiver = await started(listen(server, '127.0.0.1'));
    const url = `http://127.0.0.1:${receiver.port}/`;
    for (let count = 0; count < 30; count += 1) await post(url, { keepBytes: 100_000 });
    expect(receiver.connections).toBe(1);
    const inFlight = Array.from({ length: 8 }, async () => {
      for (let count = 0; count < 10; count += 1) await post(url, { keepBytes: 20_000 });
    });
    await Promise.all(inFlight);
    expect(receiver.connections).toBeLessThanOrEqual(8);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['closed', (socket) => socket.end(EMPTY_200)],
    [
      'reset',
      (socket) => {
        socket.write(EMPTY_200);
        socket.once('data', () => socket.resetAndDestroy());
      },
    ],
  ])('is retried if a kept-alive connection was %s', async (_, behave) => {
    const url = await urlOf(behave);
    for (let count = 0; count < 5; count += 1) expect((await post(url)).status).toBe(200);
  });

  it('is retried once, and not on a new connection', async () => {
    let answers = 1;
    const receiver = await started(
      rawReceiver((socket) => {
        if (answers > 0) socket.write(EMPTY_200);
        else socket.resetAndDestroy();
        answers -= 1;
        socket.once('data', () => socket.resetAndDestroy());
      }),
    );
    const url = `http://127.0.0.1:${receiver.port}/`;
    expect((await post(url)).status).toBe(200);
    await expect(post(url)).rejects.toMatchObject({ reason: 'reset' });
    expect(receiver.connections).toBe(2);
    await expect(post(url)).rejects.toMatchObject({ reason: 'reset' });
    expect(receiver.connections).toBe(3);
  });

  describe('over TLS', () => {
    it('without a handshake fails at the deadline', async () => {
      const { port } = await started(listen(createServer(), '127.0.0.1'));
      const call = post(`https://127.0.0.1:${port}/`, { deadlineMs: SHORT_MS });
      await expect(call).rejects.toMatchObject({ reason: 'timeout' });
    });

    it('to a server that does not speak TLS fails', async () => {
      const url = (await urlOf((socket) => socket.end(EMPTY_200))).replace('http:', 'https:');
      await expect(post(url)).rejects.toMatchObject({ reason: 'tls' });
    });

    it('to a server with an untrusted certificate fails before anything is sent', async () => {
      const receiver = await started(
        listen(
          createHttpsServer(certificate, (_, response) => response.end()),
          '127.0.0.1',
        ),
      );
      await expect(post(`https://127.0.0.1:${receiver.port}/`)).rejects.toMatchObject({
        reason: 'tls',
        message: 'No secure connection could be made (DEPTH_ZERO_SELF_SIGNED_CERT).',
      });
    });

    it('to a server with a certificate for another name fails', async () => {
      const { cert, key } = certificate;
      const receiver = await started(
        listen(
          createHttpsServer({ cert, key }, (_, response) => response.end()),
          '127.0.0.1',
        ),
      );
      const report = await callElsewhere(`https://localhost:${receiver.port}/`, {});
      expect(report).toEqual({ reason: 'tls' });
    });

    it('succeeds if its certificate is trusted, whatever proxy the environment names', async () => {
      const proxy = await started(rawReceiver((socket) => socket.end(EMPTY_200)));
      const receiver = await started(
        listen(
          createHttpsServer(certificate, (request, response) => {
            request.resume();
            response.statusCode = 202;
            response.end();
          }),
          '127.0.0.1',
        ),
      );
      const proxyUrl = `http://127.0.0.1:${proxy.port}`;
      const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
      const proxies = Object.fromEntries(
        names.flatMap((name) => [
          [name, proxyUrl],
          [name.toLowerCase(), proxyUrl],
        ]),
      );
      const environment = { ...proxies, NODE_USE_ENV_PROXY: '1', NO_PROXY: '' };
      const url = `https://127.0.0.1:${receiver.port}/`;
      expect(await callElsewhere(url, environment)).toEqual({ status: 202 });
      expect(receiver.connections).toBe(1);
      const refused = {
        ...environment,
        NODE_EXTRA_CA_CERTS: '',
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
      };
      expect(await callElsewhere(url, refused)).toEqual({ reason: 'tls' });
      expect(proxy.connections).toBe(0);
    });

    /** Calls from a process of its own, which trusts the test certificate unless the environment says otherwise. */
    async function callElsewhere(
      url: string,
      environment: Readonly<Record<string, string>>,
    ): Promise<CallReport> {
      const directory = await mkdtemp(join(tmpdir(), 'outbound-'));
      try {
        const path = join(directory, 'receiver.pem');
        await writeFile(path, certificate.cert);
        const program = ['../support/run-ts.cjs', '../support/outbound-call.ts'];
        const { stdout } = await run(
          process.execPath,
          [...program.map((file) => join(__dirname, file)), url],
          { env: { ...process.env, NODE_EXTRA_CA_CERTS: path, ...environment } },
        );
        return JSON.parse(stdout) as CallReport;
      } finally {
        await rm(directory, { recursive: true });
      }
    }
  });
});
