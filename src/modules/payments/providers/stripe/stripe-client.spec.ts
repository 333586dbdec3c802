import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { Configuration } from '../../../../platform/config';
import { StripeClient, type StripeResult } from './stripe-client';

const SWITCHING_PROTOCOLS =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n';
/** The start of an answer whose body does not end. */
const BEGUN = `${HEAD}{"object":"`;

describe('a request to Stripe', () => {
  let server: Server;
  let logged: jest.SpyInstance;
  let accepted: Socket | null = null;

  beforeEach(async () => {
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    jest.useRealTimers();
    accepted?.destroy();
    server.close();
  });

  /** Sends a request. Returns its result to come, and the connection on which it has arrived. */
  async function send(): Promise<readonly [Promise<StripeResult<unknown>>, Socket]> {
    const { port } = server.address() as AddressInfo;
    const client = new StripeClient(
      new Configuration({
        DATABASE_URL: 'postgres://localhost/billing',
        PAYMENT_PROVIDERS: 'stripe',
        STRIPE_SECRET_KEY: 'sk_test_abcdefghijk',
        STRIPE_WEBHOOK_SECRETS: 'whsec_aaaaaaaaaaaaaaaaaaaaaaaa',
        STRIPE_API_URL: `http://127.0.0.1:${port}`,
      }),
    );
    const connected = once(server, 'connection') as Promise<[Socket]>;
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const result = client.request('events/list', (sdk) => sdk.events.list());
    const [connection] = await connected;
    accepted = connection;
    connection.on('error', () => undefined);
    await once(connection, 'data');
    return [result, connection];
  }

  const NO_ANSWER = { answer: null, failure: { status: null, notConnected: null } };

  it('fails without a status if the connection closes without an answer', async () => {
    const [result, connection] = await send();
    connection.end(SWITCHING_PROTOCOLS);
    await once(connection, 'close');
    jest.advanceTimersByTime(30_000);
    expect(await result).toMatchObject(NO_ANSWER);
  });

  it('reads a page of events with the longest evidence of disputes', async () => {
    const [result, connection] = await send();
    const event = `{"object":"event","id":"evt_1","evidence":"${'a'.repeat(300_000)}"}`;
    connection.end(`${HEAD}{"object":"list","data":[${Array(100).fill(event).join()}]}`);
    expect(await result).toMatchObject({ answer: { object: 'list' }, failure: null });
  });

  /** Sends one byte after the other until the client closes the connection. */
  async function trickle(connection: Socket, pauseMs: number): Promise<void> {
    while (!connection.destroyed) {
      connection.write('a');
      jest.advanceTimersByTime(pauseMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('fails without a status if the body is too long, and closes the connection', async () => {
    const [result, connection] = await send();
    connection.write(BEGUN + 'a'.repeat(64_000_000));
    await trickle(connection, 0);
    expect(await result).toMatchObject(NO_ANSWER);
    expect(logged).toHaveBeenCalledWith(
      { path: '/v1/events', reason: 'The body is too long.' },
      expect.any(String),
    );
  });

  it('fails without a status if the body does not end, and closes the connection', async () => {
    const [result, connection] = await send();
    connection.write(BEGUN);
    await trickle(connection, 100);
    expect(await result).toMatchObject(NO_ANSWER);
  });
});
