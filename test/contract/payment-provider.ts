import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

/** A provider under the contract. */
export interface TestedProvider {
  readonly provider: 'sandbox' | 'manual' | 'stripe';
  /** Settings of the service. */
  readonly environment: Readonly<Record<string, string>>;
  /** Tokens of payment methods; null where the provider has none, or declines none. */
  readonly approved: string | null;
  readonly declined: string | null;
}

interface Answer {
  readonly id: string;
  readonly status: string;
  readonly failure_code: string | null;
  readonly amount_refunded: number;
}

/**
 * Tests what every provider must keep, through the API of the service.
 * @param declines true if the provider can decline a charge
 * @param start runs before the first test
 */
export function describeProvider(declines: boolean, start: () => Promise<TestedProvider>): void {
  let engine: TestApp;
  let tested: TestedProvider;

  beforeAll(async () => {
    tested = await start();
    engine = await startTestApp({ environment: tested.environment });
  });

  afterAll(() => engine.close());

  afterEach(async () => {
    const answer = await engine.http.get('/v1/ledger/verify').expect(200);
    expect(answer.body).toMatchObject({ ok: true });
  });

  async function post(path: string, body: object, key?: string): Promise<Answer> {
    const request = engine.http.post(path);
    if (key !== undefined) void request.set('Idempotency-Key', key);
    const answer = await request.send(body);
    expect(answer.status).toBe(201);
    return answer.body as Answer;
  }

  const read = async (path: string): Promise<Answer> =>
    (await engine.http.get(path).expect(200)).body as Answer;

  async function payer(token = tested.approved): Promise<string> {
    const customer = await createCustomer(engine);
    if (token === null) return customer;
    const { provider } = tested;
    await post(`/v1/customers/${customer}/payment-methods`, { provider, token, is_default: true });
    return customer;
  }

  const orderOf = (customer_id: string): object => ({
    customer_id,
    amount: 1_000,
    currency: 'USD',
    ...(tested.approved === null && { provider: tested.provider }),
  });

  const pay = async (customer: string, key?: string): Promise<Answer> =>
    post('/v1/payments', orderOf(customer), key);

  it('charges, and names the charge', async () => {
    const payment = await pay(await payer());
    expect(payment).toMatchObject({
      status: 'succeeded',
      provider: tested.provider,
      amount: 1_000,
    });
    const [row] = await engine.database.query<{ provider_reference: string | null }>(
      'SELECT provider_reference FROM payment WHERE id = $1',
      [payment.id],
    );
    expect(row?.provider_reference).toEqual(expect.any(String));
  });

  it('charges once for requests with the same key, at once and later', async () => {
    const customer = await payer();
    const answers = await Promise.all([pay(customer, customer), pay(customer, customer)]);
    answers.push(await pay(customer, customer));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    const listed = await engine.http.get(`/v1/payments?customer_id=${customer}`).expect(200);
    expect((listed.body as { data: unknown[] }).data).toHaveLength(1);
  });

  it('refunds a part and the rest, and no more', async () => {
    const { id } = await pay(await payer());
    const path = `/v1/refunds/payment/${id}`;
    const part = await post(path, { amount: 300 }, `${id}-part`);
    expect(part.status).toBe('succeeded');
    expect((await post(path, { amount: 300 }, `${id}-part`)).id).toBe(part.id);
    expect(await post(path, {}, `${id}-rest`)).toMatchObject({ status: 'succeeded', amount: 700 });
    const more = await engine.http.post(path).send({ amount: 1 });
    expect(more.body).toMatchObject({ status: 422, code: 'refund_amount_exceeds_refundable' });
    expect(await read(`/v1/payments/${id}`)).toMatchObject({ amount_refunded: 1_000 });
  });

  it('refunds at once no more than was paid', async () => {
    const { id } = await pay(await payer());
    const refund = (key: string) =>
      engine.http
        .post(`/v1/refunds/payment/${id}`)
        .set('Idempotency-Key', key)
        .send({ amount: 600 });
    const answers = await Promise.all([refund(`${id}-1`), refund(`${id}-2`)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(await read(`/v1/payments/${id}`)).toMatchObject({ amount_refunded: 600 });
  });

  it('leaves a final outcome as it is when it is asked again', async () => {
    const payment = await pay(await payer());
    for (const work of [DuePayments, DueRefunds]) {
      const due = engine.app.get<DuePayments>(work);
      await due.runDue();
      await due.idle();
    }
    expect(await read(`/v1/payments/${payment.id}`)).toEqual(payment);
  });

  if (!declines) return;

  it('declines with a code, refunds nothing of it, and charges the customer later', async () => {
    const customer = await payer(tested.declined);
    const refused = await pay(customer);
    expect(refused).toMatchObject({ status: 'failed' });
    expect(refused.failure_code).toMatch(/^[a-z_]+$/);
    const refund = await engine.http.post(`/v1/refunds/payment/${refused.id}`).send({});
    expect(refund.body).toMatchObject({ status: 409, code: 'payment_not_refundable' });
    const { provider, approved: token } = tested;
    const method = { provider, token, is_default: true };
    await post(`/v1/customers/${customer}/payment-methods`, method);
    expect(await pay(customer)).toMatchObject({ status: 'succeeded' });
  });
}
