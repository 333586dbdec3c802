import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { RunningService } from '../support/running-service';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { until } from '../support/until';

/**
 * Time limit of the repeated request, from the readiness of the next process. On a slow machine the limit is the time
 * that the start of this process took.
 */
const ANSWERED_WITHIN_MS = 5_000;

interface Answer {
  readonly id: string;
  readonly status: string;
}

describe('a payment at Stripe whose process is killed', () => {
  let database: TestDatabase;
  let monitor: Client;
  let stripe: StripeDouble;
  let service: RunningService;

  const start = (): Promise<RunningService> =>
    RunningService.start(database.url, {
      PAYMENT_PROVIDERS: 'stripe',
      STRIPE_SECRET_KEY: stripe.secretKey,
      STRIPE_API_URL: stripe.url,
    });

  const post = (path: string, body: object, key = path): Promise<Response> =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify(body),
    });

  const made = async (path: string, body: object, key: string): Promise<Answer> => {
    const answer = await post(path, body, key);
    expect(answer.status).toBe(201);
    return (await answer.json()) as Answer;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    monitor = new Client({ connectionString: database.url });
    await monitor.connect();
    stripe = await startStripeDouble();
    service = await start();
  });

  afterAll(async () => {
    await service.kill();
    stripe.faults.release();
    await stripe.close();
    await monitor.end();
    await database.drop();
  });

  it.each([
    [
      'after it was prepared, before its reference is stored',
      'hang_after',
      'paymentIntents.create',
    ],
    ['before it is confirmed', 'hang_before', 'paymentIntents.confirm'],
    ['after it was confirmed', 'hang_after', 'paymentIntents.confirm'],
  ] as const)(
    '%s is answered by the next process, and moves money once',
    async (_, fault, operation) => {
      const customer = await made('/v1/customers', { name: 'Ada' }, `c ${fault} ${operation}`);
      const method = { provider: 'stripe', token: 'pm_card_visa' };
      await made(`/v1/customers/${customer.id}/payment-methods`, method, `m ${customer.id}`);
      stripe.faults.plan(fault, { operation });
      const body = { customer_id: customer.id, amount: 1_000, currency: 'USD' };
      const pay = (): Promise<Response> => post('/v1/payments', body, `p ${customer.id}`);
      const lost = pay().catch(() => null);
      const reached = operation === 'paymentIntents.create' ? 'IS NULL' : 'IS NOT NULL';
      const intents = () =>
        [...stripe.account.paymentIntents.values()].filter(
          ({ metadata }) => metadata['customer_id'] === customer.id,
        );
      await until('the request hangs', async () => {
        const { rowCount } = await monitor.query(
          `SELECT FROM payment WHERE customer_id = $1 AND provider_reference ${reached}`,
          [customer.id],
        );
        const isSent = fault === 'hang_before' ? stripe.faults.hanging === 1 : true;
        const status = intents()[0]?.status;
        const isDone =
          fault === 'hang_before' ||
          (operation === 'paymentIntents.create' ? status !== undefined : status === 'succeeded');
        return rowCount === 1 && isSent && isDone;
      });

      await service.kill();
      await lost;
      service = await start();
      let answer = await pay();
      while (answer.status === 409) answer = await pay();
      const limitMs = Math.max(ANSWERED_WITHIN_MS, service.startMs);
      expect(performance.now() - service.readyAt).toBeLessThan(limitMs);
      expect(answer.status).toBe(201);
      const { id } = (await answer.json()) as Answer;
      // The confirmation that hung arrives at last.
      stripe.faults.release();
      await until('the payment succeeds', async () => {
        const read = await fetch(`${service.url}/v1/payments/${id}`);
        return ((await read.json()) as Answer).status === 'succeeded';
      });
      expect(intents().map(({ status }) => status)).toEqual(['succeeded']);
      const verified = await fetch(`${service.url}/v1/ledger/verify`);
      expect(await verified.json()).toMatchObject({ ok: true });
    },
  );
});
