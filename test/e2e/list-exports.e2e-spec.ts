import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createCustomer, createPayment } from '../support/billing';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { Story } from '../support/story';
import { startTestApp, type TestApp } from '../support/test-app';

describe('lists as CSV and their summaries', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function csv(path: string): Promise<readonly string[]> {
    const answer = await engine.http.get(`/v1/${path}`).set('Accept', 'text/csv');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(answer.headers['content-disposition']).toBe('attachment');
    expect(answer.text.endsWith('\r\n')).toBe(true);
    return answer.text.split('\r\n').slice(0, -1);
  }

  async function summary(path: string): Promise<unknown> {
    const answer = await engine.http.get(`/v1/${path}`);
    expect(answer.status).toBe(200);
    return answer.body;
  }

  /** Finalizes an invoice, and returns its id. */
  async function openInvoice(customer: string, currency: string, amount: number): Promise<string> {
    const { body } = await engine.http.post('/v1/invoices').send({
      customer_id: customer,
      currency,
      lines: [{ description: 'Work', amount }],
      collection: 'send_invoice',
    });
    const { id } = body as { id: string };
    await engine.http.post(`/v1/invoices/${id}/finalize`).expect(200);
    return id;
  }

  it('are empty at first', async () => {
    expect(await csv('customers')).toEqual([
      'id,name,email,external_id,currency,currency_locked,timezone,tax_exempt,invoice_grace_hours,test_clock_id,created_at,updated_at',
    ]);
    expect(await summary('customers/summary')).toEqual({ count: 0, currencies: [] });
    expect(await summary('invoices/summary')).toEqual({ count: 0, currencies: [] });
  });

  it('contain every matching row, whatever the limit is, and no spreadsheet formula', async () => {
    for (let made = 0; made < 205; made += 1) {
      await createCustomer(engine, { name: `=Bulk ${made}, "x"`, currency: 'EUR' });
    }
    await createCustomer(engine, { name: 'Other', currency: 'USD' });
    const rows = await csv('customers?q=bulk&limit=3');
    expect(rows).toHaveLength(206);
    expect(rows[1]).toContain(`,"'=Bulk 204, ""x""",`);
    expect(rows.at(-1)).toContain(`,"'=Bulk 0, ""x""",`);
    expect(new Set(rows).size).toBe(206);
    expect(await summary('customers/summary?q=bulk')).toEqual({
      count: 205,
      currencies: [{ currency: 'EUR', count: 205 }],
    });
    expect(await summary('customers/summary')).toMatchObject({ count: 206 });
  });

  it('sum amounts by currency, with the filters of the list', async () => {
    const euro = await createCustomer(engine, { currency: 'EUR' });
    const yen = await createCustomer(engine, { currency: 'JPY' });
    await openInvoice(euro, 'EUR', 1_000);
    await openInvoice(euro, 'EUR', 500);
    const inYen = await openInvoice(yen, 'JPY', 7);
    await engine.http.post('/v1/invoices').send({
      customer_id: euro,
      lines: [{ description: 'Draft', amount: 3 }],
    });
    const sums = (total: number) => ({
      total: String(total),
      amount_due: String(total),
      amount_paid: '0',
      amount_remaining: String(total),
    });
    expect(await summary('invoices/summary?status=open,paid')).toEqual({
      count: 3,
      currencies: [
        { currency: 'EUR', count: 2, ...sums(1_500) },
        { currency: 'JPY', count: 1, ...sums(7) },
      ],
    });
    expect(await summary(`invoices/summary?customer_id=${yen}`)).toEqual({
      count: 1,
      currencies: [{ currency: 'JPY', count: 1, ...sums(7) }],
    });
    // Nothing is to be paid for a draft yet.
    expect(await summary(`invoices/summary?customer_id=${euro}`)).toMatchObject({
      count: 3,
      currencies: [{ total: '1503', amount_remaining: '1500' }],
    });
    expect(await csv('invoices?status=open,paid&sort=-total')).toHaveLength(4);
    await engine.http.post(`/v1/invoices/${inYen}/void`).expect(200);
    // Nothing is to be paid for a void invoice any more.
    expect(await summary(`invoices/summary?customer_id=${yen}`)).toMatchObject({
      currencies: [{ total: '7', amount_remaining: '0' }],
    });

    const payment = await createPayment(engine);
    await engine.http.post(`/v1/refunds/payment/${payment}`).send({ amount: 100 }).expect(201);
    expect(await summary('payments/summary?status=succeeded')).toEqual({
      count: 1,
      currencies: [{ currency: 'USD', count: 1, amount: '10000', amount_refunded: '100' }],
    });
    expect(await summary('refunds/summary')).toEqual({
      count: 1,
      currencies: [{ currency: 'USD', count: 1, amount: '100' }],
    });
    expect(await summary('credit-notes/summary')).toEqual({ count: 0, currencies: [] });
    expect(await summary('subscriptions/summary')).toEqual({ count: 0, currencies: [] });
  });

  it('have a row for each posting of a transaction, with its debit or credit', async () => {
    const payment = await createPayment(engine);
    const { body } = await engine.http.get(`/v1/ledger/transactions?source_id=${payment}`);
    const [{ id, occurred_at, customer_id } = { id: '', occurred_at: '', customer_id: '' }] = (
      body as { data: { id: string; occurred_at: string; customer_id: string }[] }
    ).data;
    const shared = `${id},payment,${payment},${customer_id},USD,${occurred_at}`;
    expect(await csv(`ledger/transactions?source_id=${payment}`)).toEqual([
      'id,kind,source_id,customer_id,currency,occurred_at,account,debit,credit',
      `${shared},cash_clearing:sandbox,10000,`,
      `${shared},customer_credit,,10000`,
    ]);
  });

  it('have a row for each account of the ledger, with the filters of the list', async () => {
    const customer = await createCustomer(engine);
    await createPayment(engine, { customer_id: customer, amount: 300 });
    expect(await csv(`ledger/accounts?customer_id=${customer}`)).toEqual([
      'account,currency,balance',
      'cash_clearing:sandbox,USD,300',
      'customer_credit,USD,-300',
    ]);
    const path = `/v1/ledger/accounts?customer_id=${customer}&limit=5`;
    const refused = await engine.http.get(path).set('Accept', 'text/csv');
    expect(refused.body).toMatchObject({ status: 400, code: 'validation_failed' });
  });

  it('have a row for each usage event of an invoice line, whatever the limit is', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const meter = await story.meter({ aggregation: 'count' });
    const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '1' };
    const { id: plan } = await story.planOf([{ ...calls, meter_id: meter.id }]);
    await story.subscribe(plan);
    for (let call = 0; call < 3; call += 1)
      await story.reportUsage(meter.event, '2026-03-01T00:00:00.000Z');
    await story.advance('2026-04-02T00:00:00.000Z');
    const [invoice] = await story.invoices();
    const path = `invoices/${invoice?.id ?? ''}/lines/${invoice?.lines[0]?.id ?? ''}/events`;
    const [columns, ...rows] = await csv(`${path}?limit=1`);
    expect(columns).toBe(
      'id,idempotency_key,customer_id,event_name,timestamp,received_at,voided_at',
    );
    expect(new Set(rows).size).toBe(3);
  });

  it('sum more than a JSON number can hold', async () => {
    const amount = Number.MAX_SAFE_INTEGER;
    for (let made = 0; made < 2; made += 1)
      await createPayment(engine, { amount, currency: 'IDR' });
    expect(await summary('payments/summary')).toMatchObject({
      currencies: [{ currency: 'IDR', amount: '18014398509481982' }, { currency: 'USD' }],
    });
  });

  it('are sent only where CSV is preferred', async () => {
    for (const accept of [
      '*/*',
      'application/json, text/csv',
      'text/html',
      'text/csv;q=0.1, */*',
    ]) {
      const answer = await engine.http.get('/v1/customers?limit=1').set('Accept', accept);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.headers['vary']).toBe('Accept');
    }
    const one = await engine.http
      .get('/v1/events')
      .set('Accept', 'text/csv, application/json;q=0.5');
    expect(one.headers['content-type']).toBe('text/csv; charset=utf-8');
  });

  it('are refused like lists, before anything is sent', async () => {
    const refused = await engine.http.get('/v1/invoices?status=lost').set('Accept', 'text/csv');
    expect(refused.body).toMatchObject({ status: 400, code: 'validation_failed' });
    for (const query of ['status=lost', 'sort=total', 'limit=5', 'cursor=x']) {
      const answer = await engine.http.get(`/v1/invoices/summary?${query}`);
      expect(answer.body).toMatchObject({ status: 400, code: 'validation_failed' });
    }
  });
});

describe('a list as CSV', () => {
  it('is cut off when the key of its reader is revoked', async () => {
    const engine = await startTestApp({ environment: WITH_KEYS });
    const owner = bearing(BOOTSTRAP_KEY);
    // Far more than the buffers between service and reader hold.
    await engine.database.query(`
      INSERT INTO customer (id, version, name, timezone, tax_exempt, metadata, created_at, updated_at)
      SELECT 'cus_7' || lpad(number::text, 25, '0'), 1, repeat('x', 200), 'UTC', 'none', '{}', now(), now()
      FROM generate_series(1, 60000) AS number`);
    const { id, secret } = await createKey(engine, 'customers:read');
    const url = new URL('/v1/customers', await engine.app.getUrl());
    const headers = { ...bearing(secret), Accept: 'text/csv' };
    const [answer] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
    await once(answer, 'readable');
    await engine.http.delete(`/v1/api-keys/${id}`).set(owner).expect(204);
    engine.clock.advanceMs(2_000);
    await expect(text(answer)).rejects.toThrow('aborted');
    await engine.close();
  });
});
