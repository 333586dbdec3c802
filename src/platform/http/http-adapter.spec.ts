import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Express } from 'express';
import { until } from '../../../test/support/until';
import { HttpAdapter } from './http-adapter';
import { refuseUnreadable } from './refuse-unreadable';

describe('the HTTP adapter', () => {
  const adapter = new HttpAdapter(({ url }) => url === '/lines');
  const express: Express = adapter.getInstance();
  let server: Server;
  /** Responses that are never sent. */
  const open: ServerResponse[] = [];

  beforeAll(async () => {
    adapter.initHttpServer();
    server = adapter.getHttpServer();
    express.post('/echo/:name', (request, response) => {
      response.status(201).json({ name: request.params['name'], host: request.get('host') });
    });
    express.post(['/read', '/held', '/lines'], (request, response) => {
      open.push(response.setHeader('X-Request-Id', 'id-1'));
      if (request.path !== '/held') request.resume();
    });
    express.post(['/refused', '/refused/unread'], (request, response) => {
      if (request.path === '/refused') request.resume();
      response.status(413).end();
    });
    refuseUnreadable(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => jest.useRealTimers());

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  it('receives requests that have the prototypes of Express before Express handles them', async () => {
    const received = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
    const prototypes: unknown[] = [];
    server.prependOnceListener('request', (request: IncomingMessage, response: ServerResponse) => {
      prototypes.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
    });
    const answer = await fetch(`${url()}/echo/ada`, { method: 'POST' });
    await answer.arrayBuffer();
    expect(prototypes[0]).toBe(express.request);
    expect(prototypes[1]).toBe(express.response);
    const [request, response] = await received;
    expect(Object.getPrototypeOf(request)).toBe(express.request);
    expect(Object.getPrototypeOf(response)).toBe(express.response);
  });

  it('has the members of Express on requests and responses', async () => {
    const answer = await fetch(`${url()}/echo/ada`, { method: 'POST' });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({ name: 'ada', host: new URL(url()).host });
  });

  describe('for a body of very many tiny chunks', () => {
    /** More bytes than the buffers of a connection hold. */
    const SIZE = 20_000_000;
    const begin = (path: string, encoding = 'identity'): Socket => {
      const socket = connect((server.address() as AddressInfo).port);
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: ${encoding}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      return socket;
    };

    it.each(['/read', '/held'])('of %s answers a client that still sends', async (path) => {
      // Otherwise a busy machine could close the connection before the client has sent everything.
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance'] });
      const socket = begin(path);
      const chunk = `10\r\n${' '.repeat(16)}\r\n`;
      // It reads when it has sent everything.
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.write(`${chunk.repeat(3_000)}${SIZE.toString(16)}\r\n${' '.repeat(SIZE)}`, () => {
          resolve();
        });
      });
      const answer = await text(socket);
      jest.useRealTimers();
      expect(answer).toMatch(/^HTTP\/1.1 400 /);
      expect(answer).toContain('X-Request-Id: id-1');
      expect(answer).toContain('Send larger chunks.');
      const [response] = open.splice(0);
      expect(response?.statusCode).toBe(400);
      await until('the connection is closed', () => response?.closed === true);
    });

    it('accepts chunks of 8 bytes only of a compressed body of lines', async () => {
      const chunks = `8\r\n${' '.repeat(8)}\r\n`.repeat(9_000);
      for (const [path, encoding] of [
        ['/read', 'gzip'],
        ['/lines', 'identity'],
      ] as const) {
        const refused = begin(path, encoding);
        refused.write(chunks);
        expect(await text(refused)).toContain('Send larger chunks.');
      }
      open.splice(0);
      const socket = begin('/lines', 'gzip');
      socket.write(`${chunks}0\r\n\r\n`);
      await until('the body is complete', () => open[0]?.req.complete === true);
      open.splice(0)[0]?.end();
      await once(socket, 'readable');
      expect(String(socket.read())).toMatch(/^HTTP\/1.1 200 /);
      socket.destroy();
    });

    it('of /lines refuses a body that waits for its turn', async () => {
      const socket = connect((server.address() as AddressInfo).port);
      socket.write(
        'POST /held HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n' +
          'POST /lines HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n' +
          `${`8\r\n${' '.repeat(8)}\r\n`.repeat(2_000)}0\r\n\r\n`,
      );
      await until('the first request is handled', () => open.length === 1);
      open[0]?.end();
      const answer = await Promise.race([text(socket), until('/lines', () => open.length === 2)]);
      open.splice(0);
      expect(answer).toMatch(/^HTTP\/1.1 200 [^]*Connection: close/);
    });

    it.each(['/refused', '/refused/unread'])(
      'of %s, which is answered, closes the connection without a second answer',
      async (path) => {
        const socket = begin(path, 'gzip');
        await once(socket, 'readable');
        socket.write(`8\r\n${' '.repeat(8)}\r\n`.repeat(2_000));
        socket.write('0\r\n\r\nPOST /echo/ada HTTP/1.1\r\nHost: localhost\r\n\r\n');
        expect((await text(socket)).match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413']);
      },
    );

    it('which is answered is discarded for 20 seconds, so that a client can read the answer', async () => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance'] });
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const client = begin('/refused');
      const [connection] = await accepted;
      client.write(`8\r\n${' '.repeat(8)}\r\n`.repeat(2_000));
      await once(connection, 'finish');
      jest.advanceTimersByTime(19_000);
      const closed = once(connection, 'close');
      expect(connection.destroyed).toBe(false);
      await new Promise<void>((resolve) => {
        client.write(' '.repeat(SIZE), () => resolve());
      });
      jest.advanceTimersByTime(1_000);
      await closed;
      expect(await text(client)).toMatch(/^HTTP\/1.1 413 /);
    });

    it('which is answered delays a shutdown for a second at most', async () => {
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const client = begin('/refused');
      const [connection] = await accepted;
      client.write(`8\r\n${' '.repeat(8)}\r\n`.repeat(2_000));
      await once(connection, 'finish');
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance'] });
      const destroyed = once(connection, 'close');
      const isClosed = adapter.close();
      jest.advanceTimersByTime(1_000);
      await destroyed;
      await isClosed;
      client.destroy();
    });
  });
});
