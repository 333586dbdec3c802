import { DataSource } from 'typeorm';
import { FillCustomerOfRefunds1795411715001 } from '../../migrations/1795411715001-FillCustomerOfRefunds';
import { createPayment } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

describe('the customer of a refund', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const get = async (path: string): Promise<Readonly<Record<string, unknown>>> =>
    (await engine.http.get(`/v1/${path}`)).body as Readonly<Record<string, unknown>>;

  async function refunded(): Promise<{ readonly id: string; readonly customer: string }> {
    const payment = await createPayment(engine);
    const answer = await engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount: 100 });
    const customer = (await get(`payments/${payment}`))['customer_id'] as string;
    return { id: (answer.body as { id: string }).id, customer };
  }

  it('is that of its payment, and cannot be sent', async () => {
    const payment = await createPayment(engine);
    const { id, customer } = await refunded();
    expect(await get(`refunds/${id}`)).toMatchObject({ customer_id: customer });
    const answer = await engine.http
      .post(`/v1/refunds/payment/${payment}`)
      .send({ amount: 100, customer_id: customer });
    expect(answer.body).toMatchObject({ status: 400, code: 'validation_failed' });
  });

  it('has the events of the refund in its timeline', async () => {
    const { id, customer } = await refunded();
    const { data } = await get(`events?customer_id=${customer}&limit=100`);
    const types = (data as { type: string; data: { object: { id: string } } }[])
      .filter((event) => event.data.object.id === id)
      .map(({ type }) => type);
    expect(types).toEqual(['refund.succeeded', 'refund.created']);
  });

  it('is filled for refunds of the previous release, made before and during the upgrade', async () => {
    const [old, meanwhile] = [await refunded(), await refunded()];
    const query = (sql: string, ...values: readonly unknown[]) =>
      engine.database.query(sql, values);
    await query('ALTER TABLE refund ALTER customer_id DROP NOT NULL');
    await query('ALTER TABLE refund DISABLE TRIGGER USER');
    await query('UPDATE refund SET customer_id = NULL');
    await query('ALTER TABLE refund ENABLE TRIGGER USER');
    await query('UPDATE refund SET attempts = attempts WHERE id = $1', meanwhile.id);
    expect(await get(`refunds?customer_id=${meanwhile.customer}`)).toMatchObject({
      data: [{ id: meanwhile.id }],
    });
    expect(await get(`refunds?customer_id=${old.customer}`)).toMatchObject({ data: [] });

    const runner = engine.app.get(DataSource).createQueryRunner();
    const migration = new FillCustomerOfRefunds1795411715001();
    await migration.up(runner);
    await migration.up(runner);
    await runner.release();
    expect(await get(`refunds?customer_id=${old.customer}`)).toMatchObject({
      data: [{ id: old.id, customer_id: old.customer }],
    });
    await query('ALTER TABLE refund ALTER customer_id SET NOT NULL');
  });
});
