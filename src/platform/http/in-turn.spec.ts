import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { until } from '../../../test/support/until';
import { inTurn } from './in-turn';

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (bytes: number): string =>
  `POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;
/** Parts of an answer of more bytes than the buffers of a connection hold. */
const LARGE = Array.from({ length: 200 }, () => Buffer.alloc(100_000, 'a'));

describe('requests of one connection', () => {
  let server: Server;
  let client: Socket;
  let handled: string[];
  let running: number;
  /** Responses of requests that the test answers. */
  let held: ServerResponse[];
  /** Bytes received from the client until the large answer was sent. */
  let readMeanwhile: number;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/held') held.push(response);
    else if (request.url === '/large') await pipeline(Readable.from(LARGE), response);
    else if (request.url === '/ended') response.end(() => request.socket.end());
    else if (request.url === '/last') response.setHeader('Connection', 'close').end('last');
    else response.end(`[${(await buffer(request)).length}]`);
  }

  beforeEach(async () => {
    handled = [];
    running = 0;
    held = [];
    readMeanwhile = 0;
    server = createServer(
      inTurn((request, response) => {
        handled.push(request.url ?? '');
        running += 1;
        const { socket } = request;
        response.once('close', () => {
          running -= 1;
          if (request.url === '/large') readMeanwhile = socket.bytesRead;
        });
        answer(request, response).catch(() => undefined);
      }),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
  });

  afterEach(() => {
    client.destroy();
    server.close();
  });

  it('are answered in order, also those with large bodies', async () => {
    client.write(get('/') + post(300_000) + post(5) + post(1_000_000) + get('/last') + get('/'));
    expect((await text(client)).match(/\[\d+\]|last/g)).toEqual([
      '[0]',
      '[300000]',
      '[5]',
      '[1000000]',
      'last',
    ]);
    // The request after the answer with `Connection: close` is dropped.
    expect(handled).toEqual(['/', '/body', '/body', '/body', '/last']);
  });

  it('are dropped once no answer can be sent', async () => {
    const halfOpen = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
    halfOpen.write(get('/ended'));
    halfOpen.resume();
    await once(halfOpen, 'end');
    const arrives = once(server, 'request');
    halfOpen.write(get('/'));
    await arrives;
    expect(handled).toEqual(['/ended']);
    halfOpen.destroy();
  });

  it('run in contexts of their own', async () => {
    const contexts: (string | undefined)[] = [];
    const context = new AsyncLocalStorage<string>();
    server.removeAllListeners('request').on(
      'request',
      inTurn((request, response) => {
        contexts.push(context.getStore());
        context.run(request.url ?? '', () => {
          setImmediate(() => void answer(request, response));
        });
      }),
    );
    client.write(get('/first') + get('/second') + get('/last'));
    await text(client);
    expect(contexts).toEqual([undefined, undefined, undefined]);
  });

  it('are read as they are answered', async () => {
    client.write(get('/large') + post(100_000).repeat(50) + get('/last'));
    await buffer(client);
    expect(handled).toHaveLength(52);
    expect(readMeanwhile).toBeLessThan(400_000);
  });

  it('close their connection if more than a hundred wait', async () => {
    client.write(get('/large') + get('/small').repeat(150));
    const received = await buffer(client);
    expect([handled, running]).toEqual([['/large'], 0]);
    // The answer that was being made is complete.
    expect(received.length).toBeGreaterThan(Buffer.concat(LARGE).length);
    expect(received.toString('latin1', 0, 300)).toContain('Connection: close');
  });

  it('close only twenty connections after their answers', async () => {
    const { port } = server.address() as AddressInfo;
    const clients = Array.from({ length: 25 }, () => {
      const socket = connect(port, '127.0.0.1');
      socket.write(get('/held') + get('/small').repeat(101));
      return { socket, received: text(socket).catch(() => '') };
    });
    await until('five are closed', () => clients.filter(({ socket }) => socket.closed).length >= 5);
    await until('the others are handled', () => handled.length === 25);
    for (const response of held) response.end('answer');
    const received = await Promise.all(clients.map((one) => one.received));
    expect(received.filter((one) => one.endsWith('answer'))).toHaveLength(20);
  });

  it('close their connection in the middle of an answer if more than a hundred wait', async () => {
    client.write(get('/large'));
    await once(client, 'readable');
    client.write(get('/small').repeat(101));
    await buffer(client).catch(() => undefined);
    await until('the answer is closed', () => running === 0);
    expect(handled).toEqual(['/large']);
  });

  it('are dropped if the client leaves before their turn', async () => {
    client.write(get('/large') + get('/small').repeat(3));
    await once(client, 'readable');
    expect([handled, running]).toEqual([['/large'], 1]);
    client.destroy();
    await until('the answer is closed', () => running === 0);
    const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
    other.write(get('/last'));
    await text(other);
    expect(handled).toEqual(['/large', '/last']);
  });
});
