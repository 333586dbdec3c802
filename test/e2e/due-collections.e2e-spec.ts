import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { createCustomer } from '../support/billing';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

/** One of several due invoices cannot be written, for example because a row is damaged or locked. */
describe('the collection of invoices of which one fails', () => {
  let engine: TestApp;
  let planId: string;

  beforeEach(async () => {
    engine = await startTestApp();
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 }];
    const plan = { code: 'base', name: 'Base', currency: 'USD', interval: 'month', prices };
    ({ id: planId } = await post(engine, '/v1/plans', plan));
  });

  afterEach(() => engine.close());

  async function subscribe(token: string): Promise<{ customer: string; subscription: string }> {
    const customer = await createCustomer(engine);
    const method = { provider: 'sandbox', token, is_default: true };
    await post(engine, `/v1/customers/${customer}/payment-methods`, method);
    const body = { customer_id: customer, plan_id: planId };
    const { id: subscription } = await post(engine, '/v1/subscriptions', body);
    return { customer, subscription };
  }

  async function collect(): Promise<void> {
    const due = engine.app.get(DueCollections);
    await due.runDue();
    await due.idle();
  }

  /** Makes each statement of this kind fail that writes a row for which `condition` holds. */
  async function refuse(statement: string, condition: string): Promise<void> {
    await engine.database.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`);
    await engine.database.query(`
      CREATE TRIGGER refuse BEFORE ${statement} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse()`);
  }

  const accept = () => engine.database.query('DROP FUNCTION refuse CASCADE');

  const paymentsOf = async (customer: string) =>
    (await engine.http.get('/v1/payments').query({ customer_id: customer }).expect(200)).body as {
      readonly data: readonly unknown[];
    };

  const statusOf = async (subscription: string) =>
    ((await engine.http.get(`/v1/subscriptions/${subscription}`)).body as { status: string })
      .status;

  async function failuresCounted(): Promise<string | undefined> {
    const { text } = await engine.http.get('/metrics');
    const line =
      /^due_work_failures_total\{work="due-collections",reason="internal_error"\} (\d+)$/m;
    return line.exec(text)?.[1];
  }

  it('charges the others at once, and this one a minute later', async () => {
    const [one, other] = [await subscribe('pm_sandbox_ok'), await subscribe('pm_sandbox_ok')];
    await refuse('INSERT ON payment', `NEW.customer_id = '${one.customer}'`);
    await collect();
    expect((await paymentsOf(one.customer)).data).toHaveLength(0);
    expect((await paymentsOf(other.customer)).data).toHaveLength(1);
    expect(await failuresCounted()).toBe('1');
    await accept();
    await collect();
    expect((await paymentsOf(one.customer)).data).toHaveLength(0);
    engine.clock.advanceMs(60_000);
    await collect();
    expect((await paymentsOf(one.customer)).data).toHaveLength(1);
    expect((await paymentsOf(other.customer)).data).toHaveLength(1);
  });

  it('ends the collection of other void invoices', async () => {
    const token = 'pm_sandbox_declined';
    const [one, other] = [await subscribe(token), await subscribe(token)];
    await collect();
    for (const { subscription } of [one, other]) {
      expect(await statusOf(subscription)).toBe('past_due');
      const query = { subscription_id: subscription };
      const { body } = await engine.http.get('/v1/invoices').query(query).expect(200);
      const [invoice] = (body as { data: readonly { id: string }[] }).data;
      await engine.http
        .post(`/v1/invoices/${invoice?.id ?? ''}/void`)
        .send({})
        .expect(200);
    }
    await refuse('UPDATE ON subscription', `NEW.id = '${one.subscription}'`);
    await collect();
    expect(await statusOf(one.subscription)).toBe('past_due');
    expect(await statusOf(other.subscription)).toBe('active');
    await accept();
    engine.clock.advanceMs(60_000);
    await collect();
    expect(await statusOf(one.subscription)).toBe('active');
    expect(await failuresCounted()).toBe('1');
  });
});
