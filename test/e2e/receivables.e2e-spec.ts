import { Reports } from '../../src/platform/database';
import { createCustomer } from '../support/billing';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const DAY_MS = 86_400_000;

describe('receivables by age', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function openInvoice(customer: string, amount: number, days: number): Promise<string> {
    const { body } = await engine.http.post('/v1/invoices').send({
      customer_id: customer,
      currency: 'USD',
      lines: [{ description: 'Work', amount }],
      collection: 'send_invoice',
      days_until_due: days,
    });
    const { id } = body as { id: string };
    await engine.http.post(`/v1/invoices/${id}/finalize`).expect(200);
    return id;
  }

  async function read(query = ''): Promise<readonly object[]> {
    const answer = await engine.http.get(`/v1/analytics/receivables${query}`);
    expect(answer.status).toBe(200);
    return (answer.body as { data: readonly object[] }).data;
  }

  const ages = (...[notDue, to30, to60, to90, over]: readonly number[]) => ({
    not_due: String(notDue),
    days_1_to_30: String(to30),
    days_31_to_60: String(to60),
    days_61_to_90: String(to90),
    over_90_days: String(over),
  });

  it('are none at first', async () => {
    expect(await read()).toEqual([]);
    expect(await read('?group_by=customer')).toEqual([]);
  });

  it('are the balance of the ledger, without customers on test clocks and what is no longer owed', async () => {
    const ada = await createCustomer(engine, { name: 'Ada', currency: 'USD' });
    const bob = await createCustomer(engine, { name: 'Bob', currency: 'USD' });
    const now = engine.clock.now().toISOString();
    const clock = await engine.http.post('/v1/test-clocks').send({ name: 'C', now });
    const { id: clockId } = clock.body as { id: string };
    const clocked = await createCustomer(engine, { currency: 'USD', test_clock_id: clockId });
    await openInvoice(clocked, 99_999, 0);
    const atOnce = await openInvoice(ada, 1, 0);
    for (const [amount, days] of [
      [20, 30],
      [300, 31],
      [4_000, 61],
      [50_000, 91],
      [600_000, 92],
    ] as const) {
      await openInvoice(ada, amount, days);
    }
    await openInvoice(bob, 7, 91);
    await engine.http.post(`/v1/invoices/${await openInvoice(bob, 5, 0)}/void`).expect(200);
    const lost = await openInvoice(bob, 6, 0);
    await engine.http.post(`/v1/invoices/${lost}/mark-uncollectible`).expect(200);
    // Each invoice is now late by 91 days less its time to pay.
    engine.clock.advanceMs(91 * DAY_MS);
    const sums = ages(650_007, 4_000, 300, 20, 1);
    expect(await read()).toEqual([
      {
        currency: 'USD',
        customer_id: null,
        customer_name: null,
        is_deleted: null,
        invoices: 7,
        total: '654328',
        ...sums,
      },
    ]);
    const byCustomer = await read('?group_by=customer');
    expect(byCustomer).toMatchObject([
      {
        customer_id: ada,
        customer_name: 'Ada',
        is_deleted: false,
        total: '654321',
        ...ages(650_000, 4_000, 300, 20, 1),
      },
      { customer_id: bob, customer_name: 'Bob', total: '7', ...ages(7, 0, 0, 0, 0) },
    ]);
    expect(await read('?group_by=customer&limit=1')).toEqual(byCustomer.slice(0, 1));
    for (const [customer, owed] of [
      [ada, '654321'],
      [bob, '7'],
    ] as const) {
      const books = await engine.http.get(`/v1/ledger/accounts?customer_id=${customer}`);
      expect((books.body as { data: readonly object[] }).data).toContainEqual(
        expect.objectContaining({ account: 'accounts_receivable', currency: 'USD', balance: owed }),
      );
    }

    await engine.http
      .post('/v1/credit-notes')
      .send({
        invoice_id: atOnce,
        lines: [{ invoice_line_id: await lineOf(atOnce), amount: 1 }],
        reason: 'Late',
        settle: 'credit',
      })
      .expect(201);
    expect(await read()).toMatchObject([{ total: '654327', over_90_days: '0', invoices: 6 }]);
  });

  it('are dated after the wait for other reports', async () => {
    const customer = await createCustomer(engine, { currency: 'USD' });
    const reports = engine.app.get(Reports);
    const leave = [await reports.enter('analytics'), await reports.enter('analytics')];
    const waiting = engine.http.get('/v1/analytics/receivables').then(({ body }) => body as object);
    // With 15 more, the maximum number of reports waits.
    for (let others = 0; others < 15; others += 1) {
      void reports.enter('analytics').then((end) => {
        end();
      });
    }
    await until('the report waits', () => {
      try {
        reports.requireRoom('analytics');
        return false;
      } catch {
        return true;
      }
    });
    engine.clock.advanceMs(60_000);
    await openInvoice(customer, 10, 0);
    engine.clock.advanceMs(1);
    for (const end of leave) end();
    const shown = await waiting;
    const at = engine.clock.now().toISOString();
    expect(shown).toMatchObject({ at });
    expect(await engine.http.get(`/v1/analytics/receivables?at=${at}`)).toMatchObject({
      body: shown,
    });
  });

  async function lineOf(invoice: string): Promise<string> {
    const { body } = await engine.http.get(`/v1/invoices/${invoice}`);
    return (body as { lines: readonly { id: string }[] }).lines[0]?.id ?? '';
  }

  it.each(['group_by=plan', 'limit=0', 'limit=101', 'at=yesterday'])('refuse %s', async (query) => {
    const answer = await engine.http.get(`/v1/analytics/receivables?${query}`);
    expect(answer.body).toMatchObject({ status: 400, code: 'validation_failed' });
  });
});

describe('receivables by customer', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: WITH_KEYS });
  });

  afterAll(() => engine.close());

  it('name customers only to callers that may read customers', async () => {
    const post = (path: string, body: object = {}) =>
      engine.http.post(path).set(bearing(BOOTSTRAP_KEY)).send(body);
    const customer = await post('/v1/customers', { name: 'Ada Lovelace', currency: 'USD' });
    const { id: customer_id } = customer.body as { id: string };
    const invoice = await post('/v1/invoices', {
      customer_id,
      currency: 'USD',
      lines: [{ description: 'Work', amount: 100 }],
      collection: 'send_invoice',
    });
    await post(`/v1/invoices/${(invoice.body as { id: string }).id}/finalize`).expect(200);
    const read = async (...scopes: readonly string[]) => {
      const { secret } = await createKey(engine, ...scopes);
      const path = '/v1/analytics/receivables?group_by=customer';
      const { body } = await engine.http.get(path).set(bearing(secret)).expect(200);
      return (body as { data: readonly object[] }).data;
    };
    const expected = { customer_id, total: '100' };
    expect(await read('analytics:read', 'customers:read')).toEqual([
      expect.objectContaining({ ...expected, customer_name: 'Ada Lovelace' }),
    ]);
    expect(await read('analytics:read')).toEqual([
      expect.objectContaining({ ...expected, customer_name: null }),
    ]);
  });
});
