import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

interface Problem {
  readonly status: number;
  readonly code: string;
}

const post = (engine: TestApp, path: string, body: object = {}) =>
  engine.http.post(path).send(body);

const paymentOf = (customer: string, fields: object = {}) => ({
  customer_id: customer,
  amount: 1_000,
  currency: 'USD',
  ...fields,
});

async function openInvoice(engine: TestApp, customer: string): Promise<string> {
  const { body } = await post(engine, '/v1/invoices', {
    customer_id: customer,
    currency: 'USD',
    lines: [{ description: 'Work', amount: 1_000 }],
  }).expect(201);
  const { id } = body as { id: string };
  await post(engine, `/v1/invoices/${id}/finalize`).expect(200);
  return id;
}

async function addSandboxMethod(engine: TestApp, customer: string): Promise<void> {
  const method = { provider: 'sandbox', token: 'pm_sandbox_ok' };
  await post(engine, `/v1/customers/${customer}/payment-methods`, method).expect(201);
}

describe('payment providers', () => {
  describe('on loopback with open access', () => {
    let engine: TestApp;

    beforeAll(async () => {
      engine = await startTestApp();
    });

    afterAll(() => engine.close());

    it.each(['/pay', '/v1/payments'])(
      'an invoice of a customer without a payment method is not paid by %s unless a provider is named',
      async (route) => {
        const customer = await createCustomer(engine);
        const invoice = await openInvoice(engine, customer);
        const pay = (fields: object) =>
          route === '/pay'
            ? post(engine, `/v1/invoices/${invoice}/pay`, fields)
            : post(engine, route, paymentOf(customer, { invoice_id: invoice, ...fields }));
        const refused = await pay({});
        expect(refused.body).toMatchObject({
          status: 422,
          code: 'payment_method_required',
          errors: [{ pointer: '/payment_method_id' }],
        });
        const read = await engine.http.get(`/v1/invoices/${invoice}`);
        expect(read.body).toMatchObject({ status: 'open', amount_paid: 0, amount_pending: 0 });
        const listed = await engine.http.get('/v1/payments').query({ invoice_id: invoice });
        expect(listed.body).toMatchObject({ data: [] });
        expect((await pay({ provider: 'sandbox' })).body).toMatchObject({ status: 'succeeded' });
      },
    );

    it('a payment without an invoice is simulated by the sandbox', async () => {
      const customer = await createCustomer(engine);
      const { body } = await post(engine, '/v1/payments', paymentOf(customer)).expect(201);
      expect(body).toMatchObject({ status: 'succeeded', provider: 'sandbox' });
    });
  });

  describe.each([
    ['beyond loopback', { HOST: '0.0.0.0', AUTH_OPEN_ACKNOWLEDGED: 'true' }],
    ['where only manual is switched on', { PAYMENT_PROVIDERS: 'manual' }],
  ])('%s', (_, environment) => {
    let engine: TestApp;

    beforeAll(async () => {
      engine = await startTestApp({ environment });
    });

    afterAll(() => engine.close());

    it.each([
      [{}, 'payment_method_required'],
      [{ provider: 'sandbox' }, 'payment_provider_not_enabled'],
      [{ payment_method_id: 'pm_sandbox_ok' }, 'payment_provider_not_enabled'],
      [{ provider: 'sandbox', payment_method_id: 'pm_sandbox_ok' }, 'payment_provider_not_enabled'],
      [{ payment_method_id: 'something' }, 'reference_not_found'],
    ])('nothing is charged with %j', async (fields, code) => {
      const customer = await createCustomer(engine);
      const invoice = await openInvoice(engine, customer);
      const answers = [
        await post(engine, '/v1/payments', paymentOf(customer, fields)),
        await post(engine, `/v1/invoices/${invoice}/pay`, fields),
      ];
      for (const { body } of answers) expect(body).toMatchObject({ status: 422, code });
      const listed = await engine.http.get('/v1/payments').query({ customer_id: customer });
      expect(listed.body).toMatchObject({ data: [] });
    });

    it('the sandbox accepts no payment method', async () => {
      const customer = await createCustomer(engine);
      const method = { provider: 'sandbox', token: 'pm_sandbox_ok' };
      const { body } = await post(engine, `/v1/customers/${customer}/payment-methods`, method);
      expect(body).toMatchObject({ status: 422, code: 'payment_provider_not_enabled' });
    });

    it('the sandbox has no routes, in the service or in the document', async () => {
      for (const path of [
        '/v1/sandbox/payments/pay_01h455vb4pex5vsknk084sn02q/settle',
        '/v1/sandbox/refunds/ref_01h455vb4pex5vsknk084sn02q/settle',
      ]) {
        const { body } = await post(engine, path, { outcome: 'succeeded' });
        expect(body).toMatchObject({ status: 404, code: 'route_not_found' });
      }
      const { body } = await engine.uncheckedHttp.get('/openapi.json');
      const paths = Object.keys((body as { paths: object }).paths);
      expect(paths.filter((path) => path.includes('sandbox'))).toEqual([]);
    });

    it('the provider manual records money that moved elsewhere', async () => {
      const customer = await createCustomer(engine);
      const paid = await post(engine, '/v1/payments', paymentOf(customer, { provider: 'manual' }));
      expect(paid.body).toMatchObject({ status: 'succeeded', provider: 'manual' });
    });
  });

  describe('that were switched off', () => {
    let before: TestApp;
    let after: TestApp;

    beforeAll(async () => {
      before = await startTestApp();
      after = await startTestApp({
        databaseUrl: before.databaseUrl,
        environment: { PAYMENT_PROVIDERS: 'manual', LOG_LEVEL: 'silent' },
      });
    });

    afterAll(async () => {
      await after.close();
      await before.close();
    });

    const readPayment = async (id: string) =>
      (await after.http.get(`/v1/payments/${id}`)).body as object;

    it('charge no stored payment method', async () => {
      const customer = await createCustomer(before);
      await addSandboxMethod(before, customer);
      const { body } = await post(after, '/v1/payments', paymentOf(customer));
      expect(body).toMatchObject({ status: 422, code: 'payment_provider_not_enabled' });
    });

    it('refund nothing', async () => {
      const customer = await createCustomer(before);
      const paid = await post(before, '/v1/payments', paymentOf(customer)).expect(201);
      const { id } = paid.body as { id: string };
      for (const request of [{}, { amount: 100 }]) {
        const { body } = await post(after, `/v1/refunds/payment/${id}`, request);
        expect(body as Problem).toMatchObject({
          status: 422,
          code: 'payment_provider_not_enabled',
        });
      }
      expect(await readPayment(id)).toMatchObject({ amount_refunded: 0, amount_refund_pending: 0 });
    });

    it('keep a payment in flight processing until they are switched on again', async () => {
      const customer = await createCustomer(before);
      const pending = paymentOf(customer, { payment_method_id: 'pm_sandbox_pending' });
      const { id } = (await post(before, '/v1/payments', pending).expect(201)).body as {
        id: string;
      };
      after.clock.advanceMs(60_000);
      const worker = after.app.get(DuePayments);
      await worker.runDue();
      await worker.idle();
      expect(await readPayment(id)).toMatchObject({ status: 'processing' });
    });

    it('collect no invoice, and the attempt is repeated a day later', async () => {
      const customer = await createCustomer(before);
      const { body } = await post(before, '/v1/plans', {
        code: 'monthly',
        name: 'Monthly',
        currency: 'USD',
        interval: 'month',
        prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 }],
      }).expect(201);
      await addSandboxMethod(before, customer);
      const plan = { customer_id: customer, plan_id: (body as { id: string }).id };
      await post(before, '/v1/subscriptions', plan).expect(201);
      const collect = async ({ app }: TestApp) => {
        const worker = app.get(DueCollections);
        await worker.runDue();
        await worker.idle();
      };
      const invoices = async () => {
        const listed = await after.http.get('/v1/invoices').query({ customer_id: customer });
        return (listed.body as { data: object[] }).data;
      };
      await collect(after);
      expect(await invoices()).toMatchObject([{ status: 'open', attempt_count: 0 }]);
      await collect(before);
      expect(await invoices()).toMatchObject([{ status: 'open', attempt_count: 0 }]);
      before.clock.set(after.clock.now().toISOString());
      before.clock.advanceMs(86_400_000);
      await collect(before);
      expect(await invoices()).toMatchObject([{ status: 'paid', attempt_count: 1 }]);
    });
  });
});
