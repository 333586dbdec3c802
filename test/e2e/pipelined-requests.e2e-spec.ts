import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { WITH_KEYS } from '../support/keys';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const HOST = 'Host: 127.0.0.1\r\n';
/** A file of more bytes than the buffers of a connection hold. */
const LARGE_FILE = `GET /docs/swagger-ui-bundle.js HTTP/1.1\r\n${HOST}\r\n`;
/** Reserves 1 MiB of the memory for bodies, because its size is not announced. */
const NOTIFICATION = `POST /v1/providers/stripe/webhooks HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
/** More notifications than all memory for large bodies of callers without a credential holds. */
const NOTIFICATIONS = 17;

describe('requests that a client sends without waiting for answers', () => {
  let engine: TestApp;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    engine = await startTestApp({ environment: { ...WITH_KEYS, LOG_LEVEL: 'silent' } });
  });

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  afterAll(() => engine.close());

  function open(...requests: readonly string[]): Socket {
    const { port } = engine.app.getHttpServer().address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
    socket.write(requests.join(''));
    return socket;
  }

  /** Sends requests, waits until the service writes the first answer, and leaves without reading it. */
  async function leave(...requests: readonly string[]): Promise<void> {
    const socket = open(...requests);
    await once(socket, 'readable');
    // The service has read the first part of what was sent, and answers this request later.
    await engine.uncheckedHttp.get('/health/live').expect(200);
    socket.destroy();
  }

  it('hold no memory for bodies after the client has left', async () => {
    await leave(LARGE_FILE.repeat(4), NOTIFICATION.repeat(NOTIFICATIONS));
    const statusOfNext = async (): Promise<string> => {
      const socket = open(NOTIFICATION.replace(HOST, `${HOST}Connection: close\r\n`));
      return (await text(socket)).slice(0, 'HTTP/1.1 200'.length);
    };
    await until('bodies are read', async () => (await statusOfNext()) !== 'HTTP/1.1 503', 10_000);
  });

  it('hold no files open after the client has left', async () => {
    const countFiles = (): number => readdirSync('/dev/fd').length;
    const before = countFiles();
    await leave(LARGE_FILE.repeat(100));
    await until('the files are closed', () => countFiles() < before + 10, 10_000);
  });

  it('are answered in order, with their bodies', async () => {
    const signIn = (bytes: number): string => {
      const body = JSON.stringify({ email: 'x'.repeat(bytes) });
      return `POST /v1/session HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    };
    const socket = open(
      LARGE_FILE.replace('GET', 'HEAD'),
      signIn(1),
      signIn(12_000),
      signIn(17_000),
      `GET /nowhere HTTP/1.1\r\n${HOST}\r\n`.repeat(50),
      `GET /health/live HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
    );
    const answer = await text(socket);
    expect(answer.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(-3)))).toEqual([
      200,
      400,
      400,
      413,
      ...Array<number>(50).fill(401),
      200,
    ]);
  });
});
