import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Configuration } from '../../../../platform/config';
import { StripeClient } from './stripe-client';

const SWITCHING_PROTOCOLS =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n';

describe('a request to Stripe', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('fails without a status if the connection closes without an answer', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
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
    await once(connection, 'data');
    connection.end(SWITCHING_PROTOCOLS);
    await once(connection, 'close');
    jest.advanceTimersByTime(30_000);
    expect(await result).toMatchObject({ answer: null, failure: { status: null } });
    server.close();
  });
});
