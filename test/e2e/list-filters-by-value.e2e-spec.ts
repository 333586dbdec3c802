import { DataSource } from 'typeorm';
import { poolOf } from '../../src/platform/database/pool-use';
import { createCustomer, createPayment } from '../support/billing';
import { Lists } from '../support/lists';
import { startTestApp, type TestApp } from '../support/test-app';

describe('lists find', () => {
  let engine: TestApp;
  let lists: Lists;

  beforeAll(async () => {
    engine = await startTestApp({ plantsObjects: true });
    lists = new Lists(engine);
  });

  afterAll(() => engine.close());

  /** Reads a list page by page, and expects its summary and its CSV to have as many rows. */
  async function found(list: string, query: string): Promise<readonly string[]> {
    const ids = await lists.walk(`${list}?${query}`);
    const filter = query.replace(/&?sort=[^&]*/, '');
    const summary = await engine.http.get(`/v1/${list}/summary?${filter}`);
    const csv = await engine.http.get(`/v1/${list}?${query}`).set('Accept', 'text/csv');
    const rows = csv.text.split('\r\n').slice(1, -1);
    expect({ query, count: (summary.body as { count: number }).count, csv: rows.length }).toEqual({
      query,
      count: ids.length,
      csv: ids.length,
    });
    return ids;
  }

  async function draft(customer: string, amount: number, fields: object = {}): Promise<string> {
    const lines = [{ description: 'Work', amount }];
    return (await lists.post('invoices', { customer_id: customer, lines, ...fields })).id;
  }

  async function open(customer: string, amount: number, fields: object = {}): Promise<string> {
    const sent = { collection: 'send_invoice', days_until_due: 30, ...fields };
    const id = await draft(customer, amount, sent);
    await lists.post(`invoices/${id}/finalize`);
    return id;
  }

  async function plan(code: string, fields: object = {}): Promise<string> {
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 }];
    const period = { currency: 'USD', interval: 'month' };
    return (await lists.post('plans', { code, name: code, prices, ...period, ...fields })).id;
  }

  it('customers by ids, in the order asked for', async () => {
    const names = ['beta', 'Alpha', 'beta', 'Éclair', 'gamma'];
    const made: string[] = [];
    for (const name of names) {
      made.push(await createCustomer(engine, { name }));
      engine.clock.advanceMs(1_000);
    }
    const [beta, alpha, beta2, eclair, gamma] = made;
    const query = `ids=${made.join(',')},cus_01h455vb4pex5vsknk084sn02q`;
    expect(await found('customers', query)).toEqual(made.toReversed());
    const byName = [alpha, beta, beta2, gamma, eclair];
    expect(await found('customers', `${query}&sort=name`)).toEqual(byName);
    expect(await found('customers', `${query}&sort=-name`)).toEqual(byName.toReversed());
    expect(await found('customers', `${query}&sort=created_at`)).toEqual(made);
    expect(await found('customers', `${query}&sort=-created_at`)).toEqual(made.toReversed());
    expect(await found('customers', `ids=${String(alpha)}&q=beta`)).toEqual([]);
  });

  it('customers who have an open invoice with an amount to pay', async () => {
    const [drafted, paid, voided, credited, deleted, owing, twice] = (await Promise.all(
      ['D', 'P', 'V', 'N', 'X', 'O', 'T'].map((name) =>
        createCustomer(engine, { name, currency: 'USD' }),
      ),
    )) as [string, string, string, string, string, string, string];
    await draft(drafted, 100);
    const invoice = await open(paid, 100);
    const payment = { customer_id: paid, amount: 100, currency: 'USD', provider: 'manual' };
    await lists.post('payments', { ...payment, invoice_id: invoice });
    await lists.post(`invoices/${await open(voided, 100)}/void`);
    const noted = await open(credited, 100);
    const { lines } = (await engine.http.get(`/v1/invoices/${noted}`)).body as {
      lines: { id: string }[];
    };
    await lists.post('credit-notes', {
      invoice_id: noted,
      lines: [{ invoice_line_id: lines[0]?.id, amount: 100 }],
      reason: 'All of it',
      settle: 'credit',
    });
    await open(deleted, 100);
    await engine.http.delete(`/v1/customers/${deleted}`);
    await open(owing, 100);
    await open(twice, 100);
    await open(twice, 50);
    const expected = [owing, twice].sort().toReversed();
    expect(await found('customers', 'owing=true')).toEqual(expected);
    expect(await found('customers', 'owing=true&currency=USD')).toEqual(expected);
    expect(await found('customers', 'owing=true&currency=JPY')).toEqual([]);
    expect(await found('customers', 'owing=true&sort=name')).toEqual([owing, twice]);
    expect(await found('customers', `owing=true&ids=${paid},${owing}`)).toEqual([owing]);
    expect(await found('customers', 'owing=true&test_clock_id=none&q=T')).toEqual([twice]);
  });

  it('invoices by reason, collection, currency and total', async () => {
    const customer = await createCustomer(engine, { currency: 'JPY' });
    const [small, middle, large, automatic] = [
      await open(customer, 100),
      await open(customer, 200),
      await open(customer, 300),
      await draft(customer, 200),
    ];
    const list = `customer_id=${customer}`;
    expect(await found('invoices', 'currency=JPY')).toEqual([automatic, large, middle, small]);
    expect(await found('invoices', `${list}&collection=automatic`)).toEqual([automatic]);
    expect(await found('invoices', `${list}&collection=send_invoice&reason=one_off`)).toEqual([
      large,
      middle,
      small,
    ]);
    expect(await found('invoices', `${list}&reason=renewal`)).toEqual([]);
    const totals = 'currency=JPY&total_min=200';
    expect(await found('invoices', totals)).toEqual([large, automatic, middle]);
    expect(await found('invoices', `${totals}&total_max=200`)).toEqual([automatic, middle]);
    expect(await found('invoices', `${totals}&sort=total`)).toEqual([middle, automatic, large]);
    expect(await found('invoices', 'currency=JPY&total_max=-1')).toEqual([]);
    expect(await found('invoices', `${totals}&status=draft,open&total_max=250`)).toEqual([
      automatic,
      middle,
    ]);
    const now = engine.clock.now().toISOString();
    expect(await found('invoices', `${totals}&created_from=${now}`)).toEqual([
      automatic,
      large,
      middle,
    ]);

    const subscriber = await createCustomer(engine);
    await lists.post('subscriptions', { customer_id: subscriber, plan_id: await plan('reasons') });
    const [first] = await lists.ids(`invoices?customer_id=${subscriber}`);
    expect(await found('invoices', 'reason=subscription_start')).toEqual([first]);
  });

  it('payments and refunds by failure code, currency and amount', async () => {
    const pay = (amount: number, token: string): Promise<string> =>
      createPayment(engine, {
        amount,
        currency: 'CHF',
        provider: 'sandbox',
        payment_method_id: token,
      });
    const declined = await pay(300, 'pm_sandbox_declined');
    const poor = await pay(200, 'pm_sandbox_insufficient_funds');
    const refused = await pay(400, 'pm_sandbox_refund_fails');
    const paid = await pay(100, 'pm_sandbox_ok');
    const amounts = 'currency=CHF&amount_min=200';
    expect(await found('payments', 'failure_code=insufficient_funds')).toEqual([poor]);
    expect(await found('payments', 'failure_code=card_declined&status=failed')).toEqual([declined]);
    expect(await found('payments', 'failure_code=unheard_of')).toEqual([]);
    const either = 'failure_code=card_declined&status=failed,succeeded';
    expect(await found('payments', either)).toEqual([declined]);
    for (const status of ['succeeded', 'succeeded,pending']) {
      const none = `failure_code=card_declined&status=${status}`;
      expect(await found('payments', none)).toEqual([]);
      expect(await found('payments', `${none}&${amounts}`)).toEqual([]);
    }
    expect(await found('payments', 'currency=CHF')).toEqual([paid, refused, poor, declined]);
    expect(await found('payments', amounts)).toEqual([refused, declined, poor]);
    expect(await found('payments', `${amounts}&amount_max=300`)).toEqual([declined, poor]);
    expect(await found('payments', `${amounts}&status=failed,pending`)).toEqual([declined, poor]);

    const refund = async (payment: string, amount: number): Promise<string> =>
      (await lists.post(`refunds/payment/${payment}`, { amount })).id;
    const failed = await refund(refused, 150);
    const [one, other] = [await refund(paid, 40), await refund(paid, 60)];
    expect(await found('refunds', 'failure_code=refund_declined')).toEqual([failed]);
    expect(await found('refunds', 'failure_code=refund_declined&status=canceled')).toEqual([]);
    expect(await found('refunds', 'currency=CHF')).toEqual([other, one, failed]);
    expect(await found('refunds', 'currency=CHF&amount_min=60')).toEqual([failed, other]);
    expect(await found('refunds', 'currency=CHF&amount_min=40&amount_max=60')).toEqual([
      other,
      one,
    ]);
  });

  it('credit notes by currency and total', async () => {
    const customer = await createCustomer(engine, { currency: 'SEK' });
    const invoice = await open(customer, 1_000);
    const { lines } = (await engine.http.get(`/v1/invoices/${invoice}`)).body as {
      lines: { id: string }[];
    };
    const notes: string[] = [];
    for (const amount of [100, 300, 200]) {
      const credited = [{ invoice_line_id: lines[0]?.id, amount }];
      const note = { invoice_id: invoice, lines: credited, reason: 'Late', settle: 'credit' };
      notes.push((await lists.post('credit-notes', note)).id);
    }
    const [small, large, middle] = notes;
    expect(await found('credit-notes', 'currency=SEK')).toEqual([middle, large, small]);
    expect(await found('credit-notes', 'currency=SEK&total_min=200')).toEqual([large, middle]);
    expect(await found('credit-notes', 'currency=SEK&total_max=200')).toEqual([middle, small]);
  });

  it('subscriptions by when they renew', async () => {
    const now = engine.clock.now();
    const inDays = (days: number): string =>
      new Date(now.getTime() + days * 86_400_000).toISOString();
    const subscribe = async (planId: string, fields: object = {}): Promise<string> => {
      const customer = await createCustomer(engine);
      return (
        await lists.post('subscriptions', { customer_id: customer, plan_id: planId, ...fields })
      ).id;
    };
    const [weekly, daily] = [
      await plan('renews-weekly', { interval: 'week' }),
      await plan('renews-daily', { interval: 'day' }),
    ];
    const [week, day, trial] = [
      await subscribe(weekly),
      await subscribe(daily),
      await subscribe(weekly, { trial_days: 5 }),
    ];
    const [ending, endingLater, paused, later] = [
      await subscribe(weekly),
      await subscribe(daily),
      await subscribe(weekly),
      await subscribe(weekly, { start_at: inDays(3) }),
    ];
    await lists.post(`subscriptions/${ending}/cancel`, { when: 'period_end' });
    await lists.post(`subscriptions/${endingLater}/cancel`, { when: 'at', at: inDays(20) });
    await lists.post(`subscriptions/${paused}/pause`);
    const plans = [weekly, daily];
    const renewing = async (query: string): Promise<readonly string[]> => {
      const ids = await Promise.all(
        plans.map((id) => found('subscriptions', `plan_id=${id}&${query}`)),
      );
      return ids.flat();
    };
    expect(await renewing(`renews_from=${inDays(0)}`)).toEqual([week, trial, endingLater, day]);
    expect(await renewing(`renews_from=${inDays(0)}&renews_to=${inDays(6)}`)).toEqual([
      trial,
      endingLater,
      day,
    ]);
    expect(await renewing(`renews_to=${inDays(1)}`)).toEqual([]);
    expect(await renewing(`renews_from=${inDays(1)}&status=trialing,past_due`)).toEqual([trial]);
    expect(await lists.ids(`subscriptions?renews_from=${inDays(0)}`)).not.toContain(later);

    const list = `subscriptions?renews_from=${inDays(0)}`;
    const [first, second, ...others] = await lists.ids(list);
    const page = await lists.page(`${list}&limit=2`);
    expect(page.data).toMatchObject([{ id: first }, { id: second }]);
    const renewed = `UPDATE subscription SET current_period_end_at = current_period_end_at + '30 days' WHERE id = $1`;
    await engine.database.query(renewed, [second]);
    expect(await lists.ids(`${list}&cursor=${String(page.next_cursor)}`)).toEqual(others);
  });

  it.each([
    ['customers?ids=', '/ids'],
    ['customers?ids=cus_1', '/ids'],
    ['customers?ids=inv_01h455vb4pex5vsknk084sn02q', '/ids'],
    ['customers?ids=cus_01h455vb4pex5vsknk084sn02q,cus_01h455vb4pex5vsknk084sn02q', '/ids'],
    [
      `customers?ids=${Array.from({ length: 101 }, (_, n) => `cus_01h455vb4pex5vsknk084sn${n + 100}`).join(',')}`,
      '/ids',
    ],
    ['customers?owing=false', '/owing'],
    ['customers?sort=email', '/sort'],
    ['customers/summary?sort=name', '/sort'],
    ['invoices?reason=whim', '/reason'],
    ['invoices?collection=by_hand', '/collection'],
    ['invoices?currency=usd', '/currency'],
    ['invoices?total_min=1', '/currency'],
    ['invoices/summary?total_max=1', '/currency'],
    ['invoices?currency=USD&total_min=1.5', '/total_min'],
    ['invoices?currency=USD&total_min=', '/total_min'],
    ['invoices?currency=USD&total_max=9007199254740992', '/total_max'],
    ['invoices?currency=USD&total_min=2&total_max=1', '/total_min'],
    ['payments?amount_min=1', '/currency'],
    ['payments?currency=USD&amount_min=2&amount_max=1', '/amount_min'],
    ['payments?failure_code=', '/failure_code'],
    ['refunds?amount_max=1', '/currency'],
    ['credit-notes?total_max=1', '/currency'],
    ['credit-notes?currency=EURO', '/currency'],
    ['subscriptions?renews_from=soon', '/renews_from'],
  ])('nothing, and name the field, if it is refused: %s', async (path, pointer) => {
    const { body } = await engine.http.get(`/v1/${path}`);
    expect(body).toMatchObject({ status: 400, code: 'validation_failed', errors: [{ pointer }] });
  });

  it.each([
    ['renamed', `UPDATE customer SET name = 'zz' WHERE id = $1`],
    ['deleted', 'DELETE FROM customer WHERE id = $1'],
  ])(
    'continues after the last row of a page that is %s while the page is read',
    async (word, sql) => {
      const ids: string[] = [];
      for (const letter of ['a', 'b', 'c', 'd']) {
        ids.push(await createCustomer(engine, { name: `${word} ${letter}` }));
      }
      const query = engine.database.query.bind(engine.database);
      const reads = jest.spyOn(engine.database, 'query').mockImplementation(async (...page) => {
        const rows = await query<{ id?: string }>(...page);
        if (rows.some(({ id }) => id === ids[1])) await query(sql, [ids[1]]);
        return rows;
      });
      const first = await lists.page(`customers?q=${word}&sort=name&limit=2`);
      reads.mockRestore();
      const cursor = first.next_cursor ?? '';
      const rest = await lists.page(`customers?q=${word}&sort=name&limit=2&cursor=${cursor}`);
      expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids);
    },
  );

  it('refuse an invalid value in a cursor without closing a connection to the database', async () => {
    await createCustomer(engine);
    const { next_cursor: cursor } = await lists.page('customers?sort=created_at&limit=1');
    const [id = '', mark = ''] = Buffer.from(cursor ?? '', 'base64url')
      .toString()
      .split(' ');
    const invalid = Buffer.from([id, mark, 'nonsense'].join(' ')).toString('base64url');
    let closed = 0;
    const count = (): void => {
      closed += 1;
    };
    const pool = poolOf(engine.app.get(DataSource));
    pool.on('remove', count);
    const answer = await engine.http.get(`/v1/customers?sort=created_at&cursor=${invalid}`);
    pool.off('remove', count);
    expect(answer.body).toMatchObject({ status: 400, code: 'invalid_cursor' });
    expect(closed).toBe(0);
  });
});
