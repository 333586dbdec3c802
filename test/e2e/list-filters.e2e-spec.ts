import { createCustomer, createPayment } from '../support/billing';
import { type ListPage, Lists, type Row } from '../support/lists';
import { startTestApp, type TestApp } from '../support/test-app';

describe('the filters of lists', () => {
  let engine: TestApp;
  let lists: Lists;

  beforeAll(async () => {
    engine = await startTestApp();
    lists = new Lists(engine);
  });

  afterAll(() => engine.close());

  const page = (path: string): Promise<ListPage> => lists.page(path);
  const ids = (path: string): Promise<readonly string[]> => lists.ids(path);
  const walk = (path: string): Promise<readonly string[]> => lists.walk(path);
  const post = (path: string, body?: object): Promise<Row> => lists.post(path, body);

  async function invoiceOf(customer: string, amount: number, daysUntilDue = 0): Promise<string> {
    const { id } = await post('invoices', {
      customer_id: customer,
      currency: 'USD',
      lines: [{ description: 'Work', amount }],
      collection: 'send_invoice',
      days_until_due: daysUntilDue,
    });
    return id;
  }

  it('find customers by text, currency, test clock and creation', async () => {
    const clock = await post('test-clocks', { name: 'C', now: '2027-01-01T00:00:00Z' });
    const euro = await createCustomer(engine, { name: 'Filter Euro', currency: 'EUR' });
    const dollar = await createCustomer(engine, { name: 'Filter 100%', currency: 'USD' });
    const clocked = await createCustomer(engine, { name: 'Filter C', test_clock_id: clock.id });
    expect(await ids('customers?q=FILTER')).toEqual([clocked, dollar, euro]);
    expect(await ids('customers?q=filter%20100%25')).toEqual([dollar]);
    expect(await ids('customers?q=%25%25')).toEqual([]);
    expect(await ids('customers?currency=EUR&q=filter')).toEqual([euro]);
    expect(await ids(`customers?test_clock_id=${clock.id}`)).toEqual([clocked]);
    expect(await ids('customers?test_clock_id=none&q=filter')).toEqual([dollar, euro]);
    expect(await walk('customers?q=filter')).toEqual([clocked, dollar, euro]);
    const now = engine.clock.now().toISOString();
    expect(await ids(`customers?created_from=${now}&q=filter`)).toEqual([clocked, dollar, euro]);
    expect(await ids(`customers?created_to=${now}&q=filter`)).toEqual([]);
  });

  it('find invoices by several statuses, number, amounts and dates, in every order, page by page', async () => {
    const customer = await createCustomer(engine, { currency: 'USD' });
    const [draft, open, late, gone, small] = [
      await invoiceOf(customer, 500),
      await invoiceOf(customer, 300, 30),
      await invoiceOf(customer, 400, 1),
      await invoiceOf(customer, 200),
      await invoiceOf(customer, 300, 10),
    ];
    const finalized: Row[] = [];
    for (const id of [open, late, gone, small]) {
      finalized.push(await post(`invoices/${id}/finalize`));
      engine.clock.advanceMs(1000);
    }
    await post(`invoices/${gone}/void`);
    expect(await ids(`invoices?reissue_of=${gone}`)).toEqual([]);
    const list = `invoices?customer_id=${customer}`;
    expect(await ids(`${list}&status=open`)).toEqual([small, late, open]);
    expect(await walk(`${list}&status=open,void,draft`)).toEqual([small, gone, late, open, draft]);
    expect(await ids(`${list}&status=paid,uncollectible`)).toEqual([]);
    expect(await walk('invoices?status=draft,void')).toEqual([gone, draft]);
    expect(await ids(`invoices?number=${String(finalized[1]?.['number'])}`)).toEqual([late]);
    expect(await walk(`${list}&sort=-total`)).toEqual([draft, late, small, open, gone]);
    expect(await walk(`${list}&sort=total&status=open,draft`)).toEqual([open, small, late, draft]);
    expect(await walk(`${list}&sort=due_at`)).toEqual([gone, late, small, open]);
    expect(await walk(`${list}&sort=-finalized_at`)).toEqual([small, gone, late, open]);
    const second = String(finalized[1]?.['finalized_at']);
    expect(await walk(`${list}&finalized_from=${second}`)).toEqual([small, gone, late]);
    expect(await walk(`${list}&finalized_to=${second}`)).toEqual([open]);
    const due = String(finalized[3]?.['due_at']);
    expect(await walk(`${list}&due_from=${due}&sort=total`)).toEqual([open, small]);
    expect(await ids(`${list}&overdue=true`)).toEqual([]);
    const { id: regenerated } = await post(`invoices/${gone}/reissue`);
    expect(await ids(`invoices?reissue_of=${gone}`)).toEqual([regenerated]);
  });

  it('continue after the value of the last row, also if the row is gone', async () => {
    const customer = await createCustomer(engine, { currency: 'USD' });
    const invoices: string[] = [];
    for (const amount of [1, 2, 3]) invoices.push(await invoiceOf(customer, amount));
    const list = `invoices?customer_id=${customer}&sort=total`;
    const first = await page(`${list}&limit=1`);
    await engine.http.delete(`/v1/invoices/${String(first.data[0]?.id)}`).expect(204);
    const cursor = String(first.next_cursor);
    expect(await ids(`${list}&cursor=${cursor}`)).toEqual(invoices.slice(1));
  });

  it('refuse the cursor of another order', async () => {
    for (const name of ['Ordered a', 'Ordered b', 'Ordered c']) {
      await createCustomer(engine, { name });
      engine.clock.advanceMs(1000);
    }
    const list = 'customers?q=ordered&limit=2';
    const now = engine.clock.now().toISOString();
    const orders = ['', '&sort=name', '&sort=-name', '&sort=created_at', `&created_to=${now}`];
    for (const order of orders) {
      const cursor = String((await page(`${list}${order}`)).next_cursor);
      expect(cursor.length).toBeLessThanOrEqual(200);
      expect(await ids(`${list}${order}&cursor=${cursor}`)).toHaveLength(1);
      for (const other of orders.filter((one) => one !== order)) {
        const answer = await engine.http.get(`/v1/${list}${other}&cursor=${cursor}`);
        expect(answer.body).toMatchObject({ status: 400, code: 'invalid_cursor' });
      }
    }
  });

  it('continue after the value of the last row, also if that row has another value by now', async () => {
    const named = async (name: string) => createCustomer(engine, { name: `Moving ${name}` });
    // The second and the third name have the maximum length, of 4 and of 3 bytes per character.
    const [a, b, c, d] = [
      await named('a'),
      await named(`b ${'😀'.repeat(191)}`),
      await named(`c ${'あ'.repeat(191)}`),
      await named('d'),
    ];
    const list = 'customers?q=moving&sort=name';
    expect(await walk(list)).toEqual([a, b, c, d]);
    for (const [renamed, rest] of [
      [b, [c, d]],
      [c, [d]],
    ] as const) {
      const { next_cursor } = await page(`${list}&limit=2`);
      await engine.http.patch(`/v1/customers/${renamed}`).send({ name: 'Moving z' }).expect(200);
      expect(await ids(`${list}&cursor=${String(next_cursor)}`)).toEqual([...rest, renamed]);
      await engine.http.patch(`/v1/customers/${renamed}`).send({ name: 'Moving 0' }).expect(200);
      expect(await ids(`${list}&cursor=${String(next_cursor)}`)).toEqual(rest);
      await engine.http.delete(`/v1/customers/${renamed}`).expect(204);
      expect(await ids(`${list}&cursor=${String(next_cursor)}`)).toEqual(rest);
    }
  });

  it.each(['x', '', '99999999999999999999', '\0', '1 2', '\ud800'])(
    'refuse a cursor with %j as the value',
    async (value) => {
      const customer = await createCustomer(engine, { currency: 'USD' });
      for (const amount of [1, 2]) await invoiceOf(customer, amount);
      const first = await page(`invoices?customer_id=${customer}&sort=total&limit=1`);
      const [id, mark] = Buffer.from(String(first.next_cursor), 'base64url').toString().split(' ');
      const cursor = Buffer.from(`${id} ${mark} ${value}`).toString('base64url');
      const answer = await engine.uncheckedHttp.get(`/v1/invoices?sort=total&cursor=${cursor}`);
      expect(answer.body).toMatchObject({ status: 400, code: 'invalid_cursor' });
    },
  );

  it('find payments, refunds and credit notes by customer, status and creation', async () => {
    const paid = await createPayment(engine);
    const failed = await createPayment(engine, {
      provider: 'sandbox',
      payment_method_id: 'pm_sandbox_declined',
    });
    const { customer_id: customer } = (await engine.http.get(`/v1/payments/${paid}`)).body as Row;
    expect(await ids('payments?status=failed')).toEqual([failed]);
    expect(await walk('payments?status=succeeded,failed')).toEqual([failed, paid]);
    expect(await ids(`payments?status=failed&customer_id=${String(customer)}`)).toEqual([]);
    const { id: refund } = await post(`refunds/payment/${paid}`, { amount: 100 });
    expect(await ids(`refunds?customer_id=${String(customer)}`)).toEqual([refund]);
    expect(await ids('refunds?customer_id=cus_none')).toEqual([]);
    expect(await ids('refunds?status=succeeded,failed')).toEqual([refund]);
    expect(await ids('refunds?status=pending')).toEqual([]);

    const owner = await createCustomer(engine, { currency: 'USD' });
    const invoice = await invoiceOf(owner, 700);
    const open = await post(`invoices/${invoice}/finalize`);
    const [line] = open['lines'] as readonly Row[];
    const note = await post('credit-notes', {
      invoice_id: invoice,
      lines: [{ invoice_line_id: line?.id, amount: 100 }],
      reason: 'Late',
      settle: 'credit',
    });
    expect(await ids(`credit-notes?customer_id=${owner}`)).toEqual([note.id]);
    expect(await ids('credit-notes?status=issued')).toEqual([note.id]);
    expect(await ids('credit-notes?status=void')).toEqual([]);
    const now = engine.clock.now().toISOString();
    for (const list of ['payments', 'refunds', 'credit-notes']) {
      expect(await ids(`${list}?created_from=2999-01-01T00:00:00Z`)).toEqual([]);
      expect((await ids(`${list}?created_to=2999-01-01T00:00:00Z`)).length).toBeGreaterThan(0);
      expect(await ids(`${list}?created_from=${now}&created_to=${now}`)).toEqual([]);
    }
  });

  it('find subscriptions by plan and several statuses', async () => {
    const plan = { currency: 'USD', interval: 'month', prices: [] };
    const one = await post('plans', { code: 'filter-one', name: 'One', ...plan });
    const two = await post('plans', { code: 'filter-two', name: 'Two', ...plan });
    const subscribed: string[] = [];
    for (const planId of [one.id, two.id, one.id]) {
      const customer = await createCustomer(engine);
      const made = await post('subscriptions', { customer_id: customer, plan_id: planId });
      subscribed.unshift(made.id);
    }
    const [third = '', , first = ''] = subscribed;
    await post(`subscriptions/${first}/cancel`, { when: 'now' });
    expect(await ids(`subscriptions?plan_id=${one.id}`)).toEqual([third, first]);
    expect(await walk('subscriptions?status=active,canceled')).toEqual(subscribed);
    expect(await ids(`subscriptions?plan_id=${one.id}&status=canceled,paused`)).toEqual([first]);
  });

  it('find webhook deliveries to all endpoints', async () => {
    const sent: string[] = [];
    for (const name of ['one', 'two']) {
      const url = `https://example.com/${name}`;
      const endpoint = await post('webhooks/endpoints', { url, events: ['*'] });
      sent.unshift((await post(`webhooks/endpoints/${endpoint.id}/test`)).id);
    }
    const [last] = (await page('webhooks/deliveries')).data;
    expect(await walk('webhooks/deliveries?status=pending,failed')).toEqual(sent);
    const endpoint = `endpoint_id=${String(last?.['endpoint_id'])}`;
    expect(await ids(`webhooks/deliveries?${endpoint}`)).toEqual([last?.id]);
    expect(await ids('webhooks/deliveries?event_type=webhook_endpoint.tested')).toEqual(sent);
    expect(await ids('webhooks/deliveries?event_type=invoice.paid')).toEqual([]);
    expect(await ids('webhooks/deliveries?from=2000-01-01T00:00:00Z')).toEqual(sent);
    expect(await ids('webhooks/deliveries?to=2000-01-01T00:00:00Z')).toEqual([]);
    expect(await ids('webhooks/deliveries?status=succeeded')).toEqual([]);
  });

  it('keep the order of ids among rows made at the same time, over all pages', async () => {
    const copied = await createCustomer(engine, { name: 'Filter copies' });
    const invoice = await invoiceOf(copied, 77_000);
    await post(`invoices/${invoice}/finalize`);
    const [event] = (await page(`events?object_id=${invoice}`)).data;
    const at = `from=${String(event?.['timestamp'])}`;
    /** Copies the newest row of the customer, with ids that differ in their end alone. */
    const copy = async (table: string, row: string, changes: string): Promise<void> => {
      await engine.database.query(
        `INSERT INTO ${table} SELECT (jsonb_populate_record(original, to_jsonb(original) || ${changes})).*
         FROM ${table} AS original, unnest(string_to_array('7,3,9,1,5', ',')) AS place WHERE ${row}`,
        [invoice],
      );
    };
    const id = `jsonb_build_object('id', left(original.id, 14) || rpad(place, 16, '0')`;
    await copy(
      'invoice',
      'original.id = $1',
      `${id}, 'number', 'COPY-' || place, 'subscription_id', NULL)`,
    );
    await copy(
      'event',
      `original.object_id = $1 AND original.type = 'invoice.finalized'`,
      `${id}, 'sequence', place::integer + 10)`,
    );
    const type = 'type=invoice.finalized';
    for (const list of [
      `invoices?customer_id=${copied}`,
      `invoices?customer_id=${copied}&status=open,paid`,
      `invoices?sort=-total&customer_id=${copied}`,
      `events?customer_id=${copied}&${type}`,
      `events?customer_id=${copied}&${type}&${at}`,
      `events?${type}`,
      `events?${type}&${at}`,
      `events?actor=${String(event?.['actor'])}&${type}`,
    ]) {
      const found = await walk(list);
      expect({ list, found }).toEqual({ list, found: [...found].sort().reverse() });
      expect({ list, found }).toEqual({ list, found: await ids(`${list}&limit=100`) });
      expect(found.length).toBeGreaterThanOrEqual(6);
    }
    const ascending = await walk(`invoices?sort=total&customer_id=${copied}`);
    expect(ascending).toEqual([...ascending].sort());
  });

  it.each([
    'invoices?status=open,unknown',
    'invoices?status=',
    'invoices?status=open,open',
    'invoices?sort=number',
    'invoices?overdue=false',
    'invoices?due_from=yesterday',
    'customers?currency=usd',
    `customers?q=${'a'.repeat(201)}`,
    'payments?status=paid',
    'subscriptions?status=active%2C',
  ])('are refused with what is wrong: %s', async (path) => {
    const answer = await engine.http.get(`/v1/${path}`);
    expect(answer.body).toMatchObject({ status: 400, code: 'validation_failed' });
  });
});
