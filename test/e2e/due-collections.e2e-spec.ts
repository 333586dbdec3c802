import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DueInvoices } from '../../src/modules/invoicing/due-invoices';
import { createCustomer } from '../support/billing';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

/** One of several due invoices cannot be written, for example because a row is damaged or locked. */
describe('the work on due invoices of which one fails', () => {
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

  async function failuresCounted(work: string): Promise<string | undefined> {
    const { text } = await engine.http.get('/metrics');
    const start = `due_work_failures_total{work="${work}",reason="internal_error"} `;
    const line = text.split('\n').find((one) => one.startsWith(start));
    return line?.slice(start.length);
  }

  it('charges the others at once, and this one a minute later', async () => {
    const [one, other] = [await subscribe('pm_sandbox_ok'), await subscribe('pm_sandbox_ok')];
    await refuse('INSERT ON payment', `NEW.customer_id = '${one.customer}'`);
    await collect();
    expect((await paymentsOf(one.customer)).data).toHaveLength(0);
    expect((await paymentsOf(other.customer)).data).toHaveLength(1);
    expect(await failuresCounted('due-collections')).toBe('1');
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
    expect(await failuresCounted('due-collections')).toBe('1');
  });
  it('marks others as overdue, and this one once it can be written', async () => {
    const send = { collection: 'send_invoice', days_until_due: 1 };
    const ids: string[] = [];
    for (const name of ['Ada Lovelace', 'Grace Hopper', 'Emmy Noether']) {
      const customer_id = await createCustomer(engine, { name, currency: 'USD' });
      const lines = [{ description: 'Work', amount: 1_000 }];
      const { id } = await post(engine, '/v1/invoices', { customer_id, lines, ...send });
      await engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200);
      ids.push(id);
    }
    await refuse('UPDATE ON invoice', `NEW.id = '${ids[0] ?? ''}'`);
    const due = engine.app.get(DueInvoices);
    const overdue = async () => {
      const { body } = await engine.http.get('/v1/invoices').query({ overdue: true }).expect(200);
      return (body as { data: readonly { id: string }[] }).data.map(({ id }) => id).sort();
    };
    engine.clock.advanceMs(3 * 86_400_000);
    expect(await due.runDue()).toBe(true);
    expect(await overdue()).toEqual(ids.slice(1).sort());
    expect(await due.runDue()).toBe(false);
    expect(await failuresCounted('overdue-invoices')).toBe('2');
    await accept();
    expect(await due.runDue()).toBe(true);
    expect(await overdue()).toEqual([...ids].sort());
  });
});
