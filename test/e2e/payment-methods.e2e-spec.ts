import { createCustomer } from '../support/billing';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

interface Method {
  readonly id: string;
  readonly token: string;
  readonly is_default: boolean;
}

describe('payment methods', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const path = (customer: string, id = '') =>
    `/v1/customers/${customer}/payment-methods${id === '' ? '' : `/${id}`}`;
  const add = (customer: string, fields: object = {}) =>
    engine.http
      .post(path(customer))
      .send({ provider: 'sandbox', token: 'pm_sandbox_ok', ...fields });
  const made = async (customer: string, fields: object = {}): Promise<Method> => {
    const { status, body } = await add(customer, fields);
    expect(status).toBe(201);
    return body as Method;
  };
  const listed = async (customer: string): Promise<readonly Method[]> => {
    const { body } = await engine.http.get(path(customer)).query({ limit: 100 });
    return (body as { data: readonly Method[] }).data;
  };
  const defaults = async (customer: string): Promise<readonly string[]> =>
    (await listed(customer)).filter(({ is_default }) => is_default).map(({ id }) => id);
  const pay = (customer: string, fields: object = {}) =>
    engine.http
      .post('/v1/payments')
      .send({ customer_id: customer, amount: 500, currency: 'USD', ...fields });

  it('are created with every field the API shows; the first is the default', async () => {
    const customer = await createCustomer(engine);
    const first = await add(customer);
    expect(first.status).toBe(201);
    expect(first.body).toEqual({
      id: expect.stringMatching(/^pm_[0-7][0-9a-z]{25}$/) as string,
      customer_id: customer,
      provider: 'sandbox',
      token: 'pm_sandbox_ok',
      brand: null,
      last4: null,
      expiry_month: null,
      expiry_year: null,
      is_default: true,
      unusable_since: null,
      unusable_reason: null,
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    const { id } = first.body as Method;
    expect((await engine.http.get(path(customer, id))).body).toEqual(first.body);
    const second = await made(customer, { token: 'pm_sandbox_declined' });
    expect(second).toMatchObject({ is_default: false });
    expect(await listed(customer)).toEqual([second, first.body]);
    expect((await eventsOf(engine, id)).map(({ type }) => type)).toEqual([
      'payment_method.created',
    ]);
  });

  it('have at most one default: a new default replaces the old one', async () => {
    const customer = await createCustomer(engine);
    const first = await made(customer);
    const second = await made(customer, { is_default: true });
    expect(await defaults(customer)).toEqual([second.id]);
    const change = (isDefault: boolean) =>
      engine.http.patch(path(customer, first.id)).send({ is_default: isDefault });
    expect((await change(true)).body).toMatchObject({ id: first.id, is_default: true });
    expect((await change(true)).status).toBe(200);
    expect(await defaults(customer)).toEqual([first.id]);
    expect((await eventsOf(engine, first.id)).map(({ type }) => type)).toEqual([
      'payment_method.created',
      'payment_method.updated',
      'payment_method.updated',
    ]);
    await change(false);
    expect(await defaults(customer)).toEqual([]);
  });

  it('have one default after thirty concurrent requests to become it', async () => {
    const customer = await createCustomer(engine);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => add(customer, { is_default: true })),
    );
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect(await defaults(customer)).toHaveLength(1);
  });

  it('are charged: the named one, or the default', async () => {
    const customer = await createCustomer(engine);
    const declined = await made(customer, { token: 'pm_sandbox_declined' });
    const good = await made(customer);
    expect((await pay(customer)).body).toMatchObject({
      status: 'failed',
      payment_method_id: declined.id,
      provider: 'sandbox',
    });
    expect((await pay(customer, { payment_method_id: good.id })).body).toMatchObject({
      status: 'succeeded',
      payment_method_id: good.id,
    });
    expect((await pay(customer, { provider: 'manual' })).body).toMatchObject({
      status: 'succeeded',
      payment_method_id: null,
    });
    expect((await pay(customer, { payment_method_id: 'pm_sandbox_ok' })).body).toMatchObject({
      status: 'succeeded',
    });
    const wrong = await pay(customer, { payment_method_id: good.id, provider: 'manual' });
    expect(wrong.body).toMatchObject({ status: 422, code: 'payment_method_not_accepted' });
  });

  it('that were deleted are neither charged nor found', async () => {
    const customer = await createCustomer(engine);
    const { id } = await made(customer, { token: 'pm_sandbox_declined' });
    expect((await engine.http.delete(path(customer, id))).status).toBe(204);
    for (const again of [
      engine.http.delete(path(customer, id)),
      engine.http.get(path(customer, id)),
    ]) {
      expect((await again).body).toMatchObject({ status: 404, code: 'payment_method_not_found' });
    }
    expect((await pay(customer, { payment_method_id: id })).body).toMatchObject({
      status: 422,
      code: 'reference_not_found',
    });
    expect((await pay(customer)).body).toMatchObject({ status: 'succeeded' });
    expect(await made(customer)).toMatchObject({ is_default: true });
  });

  it('that were deleted while a charge has no outcome are still used for that charge', async () => {
    const customer = await createCustomer(engine);
    const { id } = await made(customer, { token: 'pm_sandbox_pending' });
    const { body } = await pay(customer);
    await engine.http.delete(path(customer, id)).expect(204);
    const payment = (body as { id: string }).id;
    const settled = await engine.http
      .post(`/v1/sandbox/payments/${payment}/settle`)
      .send({ outcome: 'succeeded' });
    expect(settled.body).toMatchObject({ status: 'succeeded', payment_method_id: id });
  });

  it('belong to one customer', async () => {
    const [one, other] = [await createCustomer(engine), await createCustomer(engine)];
    const { id } = await made(one);
    expect((await engine.http.get(path(other, id))).body).toMatchObject({
      code: 'payment_method_not_found',
    });
    expect((await pay(other, { payment_method_id: id })).body).toMatchObject({
      code: 'reference_not_found',
    });
    const unknown = 'cus_01h455vb4pex5vsknk084sn02q';
    expect((await add(unknown)).body).toMatchObject({ status: 404, code: 'customer_not_found' });
    expect((await engine.http.get(path(unknown))).body).toMatchObject({
      code: 'customer_not_found',
    });
  });

  it('with If-Match change only in the version the caller read', async () => {
    const customer = await createCustomer(engine);
    const { headers, body } = await add(customer);
    const { id } = body as Method;
    const stale = await engine.http
      .patch(path(customer, id))
      .set('If-Match', '"7"')
      .send({ is_default: false });
    expect(stale.body).toMatchObject({ status: 412, code: 'precondition_failed' });
    const fresh = await engine.http
      .delete(path(customer, id))
      .set('If-Match', headers['etag'] ?? '');
    expect(fresh.status).toBe(204);
  });

  it.each([
    [{ token: 'pm_card_visa' }, 422, 'payment_method_not_accepted'],
    [{ token: 'constructor' }, 422, 'payment_method_not_accepted'],
    [{ provider: 'manual' }, 422, 'payment_method_not_accepted'],
    [{ provider: 'paypal' }, 400, 'validation_failed'],
    [{ provider: 'stripe' }, 422, 'payment_provider_not_enabled'],
    [{ token: '' }, 400, 'validation_failed'],
    [{ token: 'x'.repeat(256) }, 400, 'validation_failed'],
    [{ token: null }, 400, 'validation_failed'],
    [{ is_default: 'yes' }, 400, 'validation_failed'],
    [{ is_default: null }, 400, 'validation_failed'],
    [{ customer_id: 'cus_1' }, 400, 'validation_failed'],
  ])('with %j are refused: %i %s', async (fields, status, code) => {
    const answer = await add(await createCustomer(engine), fields);
    expect(answer.body).toMatchObject({ status, code });
  });
});
