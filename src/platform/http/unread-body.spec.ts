import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { until } from '../../../test/support/until';
import { endUnreadBodies } from './unread-body';

const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n';

describe('a body that nothing reads', () => {
  let server: Server;
  let client: Socket;
  let received = '';
  let timersBefore = 0;

  const countTimers = (): number =>
    process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const untilNoTimer = () => until('no timer is left', () => countTimers() <= timersBefore);

  async function open(graceMs: number): Promise<void> {
    received = '';
    timersBefore = countTimers();
    server = createServer((request, response) => {
      endUnreadBodies(graceMs)(request, response, () => {
        response.writeHead(401).end();
      });
    });
    server.requestTimeout = 0;
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('data', (data) => (received += data.toString()));
    client.on('error', () => undefined);
  }

  afterEach(() => {
    client.destroy();
    server.close();
  });

  it('is ended some time after the answer', async () => {
    await open(50);
    client.write(HEAD);
    await once(client, 'close');
    expect(received).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('is not awaited once its connection has ended', async () => {
    await open(60_000);
    client.write(HEAD);
    await once(client, 'data');
    client.destroy();
    await untilNoTimer();
  });

  it('may arrive after the answer, and the connection serves the next request', async () => {
    await open(60_000);
    client.write(HEAD);
    await once(client, 'data');
    client.write(`12345${HEAD}`);
    await once(client, 'data');
    expect(received.match(/HTTP\/1\.1 401 /g)).toHaveLength(2);
    client.write('12345');
    await untilNoTimer();
  });
});
