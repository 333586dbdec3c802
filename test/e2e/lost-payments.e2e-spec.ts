import { Logger } from '@nestjs/common';
import { SandboxProvider } from '../../src/modules/payments/providers/sandbox.provider';
import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

describe('a payment or refund that the database loses during the call to the provider', () => {
  let engine: TestApp;
  let customerId: string;
  let logged: jest.SpyInstance<unknown, unknown[]>;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' }, plantsObjects: true });
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    customerId = await createCustomer(engine);
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
  });

  afterEach(() => jest.restoreAllMocks());

  /** Deletes the row and its idempotency key during the call to the provider. */
  function loseDuring(method: 'charge' | 'refund', table: 'payment' | 'refund'): void {
    const provider = engine.app.get(SandboxProvider);
    const original = provider[method].bind(provider) as (request: unknown) => Promise<never>;
    jest.spyOn(provider, method).mockImplementation(async (request: unknown) => {
      const outcome = await original(request);
      await engine.database.query(`DELETE FROM ${table} WHERE customer_id = $1`, [customerId]);
      await engine.database.query('DELETE FROM idempotency_key');
      return outcome;
    });
  }

  const pay = () =>
    engine.http
      .post('/v1/payments')
      .set('Idempotency-Key', `pay ${customerId}`)
      .send({ customer_id: customerId, amount: 100, currency: 'USD' });

  const countKeys = () => engine.database.queryValue('SELECT count(*)::int FROM idempotency_key');

  it('is logged with the outcome of the charge, and not answered as if it had been purged', async () => {
    loseDuring('charge', 'payment');
    expect((await pay()).body).toMatchObject({ status: 500, code: 'internal_error' });
    expect(await countKeys()).toBe(0);
    expect(logged).toHaveBeenCalledWith(
      {
        payment_id: expect.stringMatching(/^pay_/),
        customer_id: customerId,
        provider: 'sandbox',
        provider_reference: expect.any(String),
        outcome: 'succeeded',
      },
      'an outcome was not stored, because its payment or refund is missing',
    );
  });

  it('is logged with the outcome of the refund', async () => {
    const { id: payment_id } = (await pay()).body as { id: string };
    loseDuring('refund', 'refund');
    const { body } = await engine.http
      .post(`/v1/refunds/payment/${payment_id}`)
      .set('Idempotency-Key', `refund ${payment_id}`)
      .send({ amount: 50 });
    expect(body).toMatchObject({ status: 500, code: 'internal_error' });
    expect(await countKeys()).toBe(0);
    expect(logged).toHaveBeenCalledWith(
      expect.objectContaining({
        payment_id,
        refund_id: expect.stringMatching(/^ref_/) as unknown,
        provider_reference: expect.any(String) as unknown,
        outcome: 'succeeded',
      }),
      'an outcome was not stored, because its payment or refund is missing',
    );
  });
});
