import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer } from '../support/billing';
import { verifyLedger } from '../support/ledger';
import { startTestApp, type TestApp } from '../support/test-app';

const LINES = `
  SELECT line.invoice_id, line.ctid::text AS place, line.is_released, marked.line_id IS NOT NULL AS is_marked
  FROM invoice_line line LEFT JOIN released_line marked ON line_id = line.id
  ORDER BY line.id`;

const PERIODS = 'SELECT ctid::text AS place FROM subscription_period ORDER BY start_at';

const POSTED = `
  SELECT account, sum(amount_minor)::text AS amount FROM ledger_posting
  WHERE account IN ('revenue', 'deferred_revenue') GROUP BY account ORDER BY account`;

describe('the revenue of a line', () => {
  let engine: TestApp;

  beforeEach(async () => {
    engine = await startTestApp();
    engine.clock.set('2026-03-01T00:00:00.000Z');
  });

  afterEach(() => engine.close());

  async function post(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(`/v1/${path}`).send(body).expect(201);
    return (answer.body as { id: string }).id;
  }

  async function subscribe(customer: object = {}): Promise<void> {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 4_900 }];
    const plan = { code: 'pro', name: 'Pro', currency: 'EUR', interval: 'month', prices };
    await post('subscriptions', {
      customer_id: await createCustomer(engine, customer),
      plan_id: await post('plans', plan),
      collection: 'send_invoice',
    });
  }

  async function renew(worker: TestApp, at: string): Promise<void> {
    worker.clock.set(at);
    while (await worker.app.get(DueSubscriptions).runDue());
  }

  async function voidFirst(): Promise<void> {
    const [first] = await engine.database.query<{ invoice_id: string }>(LINES);
    await engine.http.post(`/v1/invoices/${first?.invoice_id ?? ''}/void`).expect(200);
  }

  it('is released by a renewal that stores neither the line nor its period again', async () => {
    await subscribe();
    const [line] = await engine.database.query<object>(LINES);
    const [period] = await engine.database.query<object>(PERIODS);
    await renew(engine, '2026-04-01T00:00:00.000Z');
    await renew(engine, '2026-05-01T00:00:00.000Z');
    expect(await engine.database.query(LINES)).toMatchObject([
      { ...line, is_released: false, is_marked: true },
      { is_released: false, is_marked: true },
      { is_released: false, is_marked: false },
    ]);
    expect((await engine.database.query(PERIODS))[0]).toEqual(period);
    await voidFirst();
    expect(await engine.database.query(POSTED)).toEqual([
      { account: 'deferred_revenue', amount: '-4900' },
      { account: 'revenue', amount: '-4900' },
    ]);
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  it('is released once, also if a former release marked it on the line', async () => {
    await subscribe();
    await renew(engine, '2026-04-01T00:00:00.000Z');
    await engine.database.query(
      'UPDATE invoice_line SET is_released = true FROM released_line WHERE line_id = invoice_line.id',
    );
    await engine.database.query('DELETE FROM released_line');
    await renew(engine, '2026-05-01T00:00:00.000Z');
    expect(await engine.database.query(LINES)).toMatchObject([
      { is_released: true, is_marked: false },
      { is_released: false, is_marked: true },
      { is_released: false, is_marked: false },
    ]);
    await voidFirst();
    expect(await engine.database.query(POSTED)).toEqual([
      { account: 'deferred_revenue', amount: '-4900' },
      { account: 'revenue', amount: '-4900' },
    ]);
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  it('is forgotten with the test clock of its customer', async () => {
    const now = '2026-03-01T00:00:00.000Z';
    const clock = await post('test-clocks', { name: 'March', now });
    await subscribe({ test_clock_id: clock });
    const to = '2026-05-02T00:00:00.000Z';
    await engine.http.post(`/v1/test-clocks/${clock}/advance`).send({ to }).expect(200);
    const marked = 'SELECT FROM released_line';
    expect(await engine.database.query(marked)).toHaveLength(2);
    await engine.http.delete(`/v1/test-clocks/${clock}`).expect(204);
    expect(await engine.database.query(marked)).toEqual([]);
  });
});
