import { DueDrafts } from '../../src/modules/billing/invoices/due-drafts';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer, createMeter } from '../support/billing';
import { verifyLedger } from '../support/ledger';
import { startTestApp, type TestApp } from '../support/test-app';
import { withoutTriggers } from '../support/without-triggers';

const AT = (date: string) => `2026-${date}T00:00:00.000Z`;

describe('monthly recurring revenue', () => {
  let engine: TestApp;
  let codes = 0;

  beforeEach(async () => {
    engine = await startTestApp();
    engine.clock.set(AT('03-10'));
  });

  afterEach(async () => {
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    await engine.close();
  });

  async function post<Body = { id: string }>(path: string, body: object): Promise<Body> {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect([path, answer.status, answer.body]).toEqual([
      path,
      path.includes('/') ? 200 : 201,
      expect.anything(),
    ]);
    return answer.body as Body;
  }

  async function planOf(amount: number, fields: object = {}): Promise<string> {
    codes += 1;
    const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount }];
    const plan = { code: `plan-${codes}`, name: 'Plan', currency: 'EUR', interval: 'month' };
    return (await post('plans', { ...plan, prices, ...fields })).id;
  }

  async function subscribe(planId: string, fields: object = {}): Promise<string> {
    const customer = await createCustomer(engine);
    const body = { customer_id: customer, plan_id: planId, collection: 'send_invoice' };
    return (await post('subscriptions', { ...body, ...fields })).id;
  }

  const changes = async (subscription?: string) => {
    const all = await read<Change>(engine, '/changes', 'limit=100');
    return all
      .filter(({ subscription_id: id }) => subscription === undefined || id === subscription)
      .map(({ kind, before, after, changed_at: at }) => [kind, before, after, at])
      .toReversed();
  };

  const renew = async (date: string): Promise<void> => {
    engine.clock.set(AT(date));
    while (await engine.app.get(DueSubscriptions).runDue());
  };

  it.each([
    ['day', 296_127_098_786_005, 9_007_199_254_740_985],
    ['week', 2_072_889_691_502_036, 9_007_199_254_740_990],
  ])(
    'of a price per %s is at most the largest amount of the API',
    async (interval, most, perMonth) => {
      const id = await subscribe(await planOf(most, { interval }));
      expect(await changes(id)).toEqual([['new', 0, perMonth, AT('03-10')]]);
      const { body } = await engine.http.post('/v1/subscriptions').send({
        customer_id: await createCustomer(engine),
        plan_id: await planOf(most + 1, { interval }),
      });
      expect(body).toMatchObject({ status: 422, code: 'subscription_too_large' });
    },
  );

  it('above the largest amount of the API, from a former release, is shown rounded', async () => {
    const id = await subscribe(await planOf(1_000));
    const set = (minor: string) =>
      withoutTriggers(engine, [`UPDATE mrr_change SET after_minor = ${minor}`]);
    await set('273968977331705143');
    const rounded = Number(273968977331705143n);
    expect(await changes(id)).toEqual([['new', 0, rounded, AT('03-10')]]);
    await set('1000');
  });

  it('follows plans, quantities, coupons, pauses and ends, each in the commit of the change', async () => {
    const small = await planOf(1_000);
    const yearly = await planOf(12_000, { interval: 'year' });
    const metered = {
      name: 'Calls',
      model: 'per_unit',
      timing: 'in_arrears',
      unit_amount: '5',
      meter_id: await createMeter(engine),
    };
    const seats = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '250' };
    const large = await planOf(0, { prices: [seats, metered] });
    const id = await subscribe(small);
    await subscribe(yearly);

    engine.clock.set(AT('03-20'));
    await post(`subscriptions/${id}/change`, { plan_id: large, quantity: '10', when: 'now' });
    engine.clock.set(AT('03-25'));
    await post(`subscriptions/${id}/change`, { quantity: '8', when: 'period_end' });
    const coupon = { type: 'percent', percent_off: '50', duration: 'repeating' };
    await post('coupons', { ...coupon, code: 'HALF', duration_in_months: 2 });
    await post('coupons', { type: 'percent', percent_off: '10', duration: 'once', code: 'ONCE' });
    await post(`subscriptions/${id}/coupons`, { code: 'ONCE' });
    await post(`subscriptions/${id}/coupons`, { code: 'HALF' });
    await renew('04-10');
    await renew('05-10');
    await renew('06-10');
    engine.clock.set(AT('06-20'));
    await post(`subscriptions/${id}/pause`, {});
    engine.clock.set(AT('06-25'));
    await post(`subscriptions/${id}/resume`, {});
    await post(`subscriptions/${id}/cancel`, { when: 'period_end' });
    await renew('07-10');

    expect(await changes(id)).toEqual([
      ['new', 0, 1_000, AT('03-10')],
      ['expansion', 1_000, 2_500, AT('03-20')],
      ['contraction', 2_500, 1_250, AT('03-25')],
      ['contraction', 1_250, 1_000, AT('04-10')],
      ['expansion', 1_000, 2_000, AT('06-10')],
      ['churn', 2_000, 0, AT('06-20')],
      ['reactivation', 0, 2_000, AT('06-25')],
      ['churn', 2_000, 0, AT('07-10')],
    ]);
    const period = `from=${AT('03-01')}&to=${AT('07-11')}`;
    expect(await read(engine, '', period)).toEqual(
      [
        ['03-01', '04-01', '2250', 2],
        ['04-01', '05-01', '2000', 2],
        ['05-01', '06-01', '2000', 2],
        ['06-01', '07-01', '3000', 2],
        ['07-01', '07-11', '1000', 1],
      ].map(([start, end, mrr, subscriptions]) => ({
        currency: 'EUR',
        window_start: AT(String(start)),
        window_end: AT(String(end)),
        mrr,
        subscriptions,
      })),
    );
    const movements = await read<Movements>(engine, '/movements', period);
    expect(movements[0]).toMatchObject({
      opening: '0',
      new: '2000',
      expansion: '1500',
      contraction: '-1250',
      churn: '0',
      reactivation: '0',
      closing: '2250',
      counts: { new: 2, expansion: 1, contraction: 1, churn: 0, reactivation: 0 },
    });
    expect(movements[3]).toMatchObject({
      opening: '2000',
      expansion: '1000',
      churn: '-2000',
      reactivation: '2000',
      closing: '3000',
    });
    for (const one of movements) {
      const moved = [one.new, one.expansion, one.contraction, one.churn, one.reactivation];
      const sum = moved.reduce((total, amount) => total + BigInt(amount), BigInt(one.opening));
      expect(sum.toString()).toBe(one.closing);
    }
  });

  describe('counts a repeating coupon until the first period without it, if its months begin with a bill in arrears', () => {
    const arrears = { name: 'Work', model: 'flat', timing: 'in_arrears', amount: 1_000 };
    const coupon = {
      code: 'HALF',
      type: 'percent',
      percent_off: '50',
      duration: 'repeating',
      duration_in_months: 1,
    };

    beforeEach(() => post('coupons', coupon));

    async function begin(graceHours: number): Promise<string> {
      const customer = await createCustomer(engine, { invoice_grace_hours: graceHours });
      const { id } = await post('subscriptions', {
        customer_id: customer,
        plan_id: await planOf(0, { prices: [arrears] }),
        coupon: 'HALF',
        collection: 'send_invoice',
      });
      return id;
    }

    const invoiceOf = async (subscription: string): Promise<string> => {
      const answer = await engine.http.get(`/v1/invoices?subscription_id=${subscription}`);
      return (answer.body as { data: { id: string }[] }).data[0]?.id ?? '';
    };

    it('of the renewal', async () => {
      const id = await begin(0);
      await renew('04-10');
      expect(await changes(id)).toEqual([
        ['new', 0, 500, AT('03-10')],
        ['expansion', 500, 1_000, AT('04-10')],
      ]);
    });

    it('that is finalized after its grace period, or by request', async () => {
      const [waiting, requested] = [await begin(24), await begin(24)];
      await renew('04-10');
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
      engine.clock.set('2026-04-10T12:00:00.000Z');
      await post(`invoices/${await invoiceOf(requested)}/finalize`, {});
      engine.clock.set(AT('04-11'));
      while (await engine.app.get(DueDrafts).runDue());
      expect([(await changes(waiting)).at(-1), (await changes(requested)).at(-1)]).toEqual([
        ['expansion', 500, 1_000, AT('04-11')],
        ['expansion', 500, 1_000, '2026-04-10T12:00:00.000Z'],
      ]);
    });

    it('that is voided and regenerated', async () => {
      const id = await begin(0);
      await renew('04-10');
      const invoice = await invoiceOf(id);
      engine.clock.set(AT('04-12'));
      await post(`invoices/${invoice}/void`, {});
      expect(await verifyLedger(engine)).toMatchObject({ ok: true });
      engine.clock.set(AT('04-13'));
      const answer = await engine.http.post(`/v1/invoices/${invoice}/reissue`).send({});
      expect(answer.body).toMatchObject({ total: 500 });
      expect((await changes(id)).slice(2)).toEqual([
        ['contraction', 1_000, 500, AT('04-12')],
        ['expansion', 500, 1_000, AT('04-13')],
      ]);
    });
  });

  it('grows when a coupon is removed, and stays when one is that counts no more', async () => {
    const id = await subscribe(await planOf(1_000));
    const remove = async (code: string): Promise<void> => {
      const { body } = await engine.http.get(`/v1/subscriptions/${id}/coupons`);
      const { data } = body as { data: { id: string; code: string }[] };
      const redemption = data.find((one) => one.code === code)?.id ?? '';
      await engine.http.delete(`/v1/subscriptions/${id}/coupons/${redemption}`).expect(204);
    };
    const coupon = { type: 'percent', percent_off: '50' };
    await post('coupons', { ...coupon, duration: 'forever', code: 'FOREVER' });
    await post('coupons', { ...coupon, duration: 'once', code: 'ONCE' });
    for (const code of ['FOREVER', 'ONCE']) await post(`subscriptions/${id}/coupons`, { code });
    engine.clock.set(AT('03-12'));
    await remove('ONCE');
    await remove('FOREVER');
    await remove('FOREVER');
    expect(await changes(id)).toEqual([
      ['new', 0, 1_000, AT('03-10')],
      ['contraction', 1_000, 500, AT('03-10')],
      ['expansion', 500, 1_000, AT('03-12')],
    ]);
  });

  it('of a back-dated start counts from the start', async () => {
    const plan = await planOf(1_000);
    const free = await planOf(0);
    const subscription = await subscribe(plan, { start_at: AT('01-20') });
    const upgraded = await subscribe(free, { start_at: AT('01-20') });
    await renew('03-10');
    expect(await changes(subscription)).toEqual([['new', 0, 1_000, AT('01-20')]]);
    engine.clock.set(AT('03-12'));
    await post(`subscriptions/${upgraded}/change`, { plan_id: plan, when: 'now' });
    expect(await changes(upgraded)).toEqual([['new', 0, 1_000, AT('03-12')]]);
    const windows = await read<{ mrr: string }>(
      engine,
      '',
      `from=${AT('01-01')}&to=${AT('04-01')}`,
    );
    expect(windows.map(({ mrr }) => mrr)).toEqual(['1000', '1000', '2000']);
    // Recorded last, in the middle of the list.
    await subscribe(plan, { start_at: AT('02-01') });
    await renew('03-13');
    const all = await read<Change>(engine, '/changes');
    expect(all.map(({ changed_at }) => changed_at)).toEqual([
      AT('03-12'),
      AT('02-01'),
      AT('01-20'),
    ]);
  });

  it.each([
    ['50', 1, [500, 1_000, '02-20']],
    ['50', 2, [500, 1_000, '03-20']],
    ['100', 1, [0, 1_000, '02-20']],
  ] as const)(
    'of a back-dated start is %s %% less in the %d months of its coupon',
    async (percent_off, duration_in_months, [first, full, fullFrom]) => {
      const coupon = { code: 'SHORT', type: 'percent', percent_off, duration: 'repeating' };
      await post('coupons', { ...coupon, duration_in_months });
      engine.clock.set(AT('05-10'));
      const id = await subscribe(await planOf(1_000), { start_at: AT('01-20'), coupon: 'SHORT' });
      await renew('05-10');
      expect(await changes(id)).toEqual(
        first === 0
          ? [['new', 0, full, AT(fullFrom)]]
          : [
              ['new', 0, first, AT('01-20')],
              ['expansion', first, full, AT(fullFrom)],
            ],
      );
      await renew('05-20');
      await post(`subscriptions/${id}/cancel`, { when: 'period_end' });
      await renew('06-21');
      expect((await changes(id)).at(-1)).toEqual(['churn', full, 0, AT('06-21')]);
    },
  );

  it('of a back-dated trial counts from the end of the trial, with the months of a coupon after it', async () => {
    const coupon = { code: 'SHORT', type: 'percent', percent_off: '50', duration: 'repeating' };
    await post('coupons', { ...coupon, duration_in_months: 1 });
    const fields = { start_at: AT('01-01'), trial_days: 9, coupon: 'SHORT' };
    const id = await subscribe(await planOf(1_000), fields);
    await renew('03-10');
    expect(await changes(id)).toEqual([
      ['new', 0, 500, AT('01-10')],
      ['expansion', 500, 1_000, AT('02-10')],
    ]);
  });

  it('of a back-dated start ends when the subscription of a deleted customer ends', async () => {
    const id = await subscribe(await planOf(1_000), { start_at: AT('01-20') });
    const { body } = await engine.http.get(`/v1/subscriptions/${id}`);
    const { customer_id } = body as { customer_id: string };
    await engine.http.delete(`/v1/customers/${customer_id}`).expect(204);
    await renew('03-11');
    expect(await changes(id)).toEqual([
      ['new', 0, 1_000, AT('01-20')],
      ['churn', 1_000, 0, AT('02-20')],
    ]);
  });

  describe('of a start that waits for its first payment', () => {
    const begin = async (fields: object): Promise<string> =>
      subscribe(await planOf(1_000), {
        collection: 'automatic',
        payment_behavior: 'default_incomplete',
        ...fields,
      });

    async function payFirstInvoice(subscription: string): Promise<void> {
      const [invoice] = await engine.database.query<object>(
        `SELECT customer_id, id AS invoice_id, total::int AS amount FROM invoice
         WHERE subscription_id = $1`,
        [subscription],
      );
      await post('payments', { ...invoice, provider: 'manual', currency: 'EUR' });
    }

    it.each([
      ['now', null, null],
      ['now with a coupon for one invoice', null, 'ONCE'],
      ['in the past', AT('01-20'), null],
    ])('%s counts from the payment', async (_, start_at, coupon) => {
      const terms = { type: 'percent', percent_off: '10', duration: 'once' };
      await post('coupons', { ...terms, code: 'ONCE' });
      const id = await begin({ start_at, coupon });
      engine.clock.set('2026-03-10T20:00:00.000Z');
      await payFirstInvoice(id);
      while (await engine.app.get(DueSubscriptions).runDue());
      expect(await changes(id)).toEqual([['new', 0, 1_000, '2026-03-10T20:00:00.000Z']]);
    });

    it('in the past counts a coupon that ended before the payment', async () => {
      const coupon = { type: 'percent', percent_off: '50', duration: 'repeating' };
      await post('coupons', { ...coupon, duration_in_months: 1, code: 'SHORT' });
      const id = await begin({ start_at: AT('01-20'), coupon: 'SHORT' });
      engine.clock.set('2026-03-10T20:00:00.000Z');
      await payFirstInvoice(id);
      while (await engine.app.get(DueSubscriptions).runDue());
      expect(await changes(id)).toEqual([
        ['new', 0, 500, '2026-03-10T20:00:00.000Z'],
        ['expansion', 500, 1_000, '2026-03-10T20:00:00.000Z'],
      ]);
    });

    it('counts from the start if there is nothing to pay', async () => {
      const coupon = { type: 'percent', percent_off: '100', duration: 'once' };
      await post('coupons', { ...coupon, code: 'FREE' });
      const id = await begin({ start_at: AT('01-20'), coupon: 'FREE' });
      expect(await changes(id)).toEqual([['new', 0, 1_000, AT('01-20')]]);
    });

    it('counts from the end of its trial, which is active without a payment', async () => {
      const id = await begin({ trial_days: 5 });
      await renew('03-16');
      expect(await changes(id)).toEqual([['new', 0, 1_000, AT('03-15')]]);
    });
  });

  it('does not count trials, first payments that are due, starts ahead and test clocks', async () => {
    const plan = await planOf(1_000);
    const trial = await subscribe(plan, { trial_days: 5 });
    await subscribe(plan, { collection: 'automatic', payment_behavior: 'default_incomplete' });
    await subscribe(plan, { start_at: AT('04-01') });
    const clock = await post('test-clocks', { name: 'C', now: AT('03-10') });
    const clocked = await createCustomer(engine, { test_clock_id: clock.id });
    await post('subscriptions', {
      customer_id: clocked,
      plan_id: plan,
      collection: 'send_invoice',
    });
    expect(await changes()).toEqual([]);
    await renew('03-15');
    expect(await changes()).toEqual([['new', 0, 1_000, AT('03-15')]]);
    expect(await changes(trial)).toHaveLength(1);
    await renew('04-01');
    expect(await changes()).toHaveLength(2);
  });

  it('is reported by the verification of the ledger if its records do not add up to it', async () => {
    const id = await subscribe(await planOf(1_000));
    await withoutTriggers(engine, ['UPDATE mrr_change SET after_minor = 999']);
    const { ok, checks } = await verifyLedger(engine);
    expect(ok).toBe(false);
    expect(checks.filter((check) => !check.ok)).toEqual([
      {
        name: 'mrr_changes_equal_subscriptions',
        ok: false,
        offending: [`${id} EUR: recorded 999, current 1000`],
      },
    ]);
    await withoutTriggers(engine, ['UPDATE mrr_change SET after_minor = 1000']);
  });

  it('is reported by the verification of the ledger if a change does not follow the one before it', async () => {
    const id = await subscribe(await planOf(1_000));
    const plan_id = await planOf(2_000);
    await engine.http
      .post(`/v1/subscriptions/${id}/change`)
      .send({ plan_id, when: 'now' })
      .expect(200);
    const shift = (amount: number) =>
      withoutTriggers(engine, [
        `UPDATE mrr_change SET before_minor = before_minor + ${amount}, after_minor = after_minor + ${amount} WHERE sequence = 1`,
      ]);
    await shift(500);
    const { checks } = await verifyLedger(engine);
    expect(checks.filter((check) => !check.ok)).toEqual([
      {
        name: 'mrr_changes_follow_each_other',
        ok: false,
        offending: [`${id} 1: before 500, expected 0`, `${id} 2: before 1000, expected 1500`],
      },
    ]);
    await shift(-500);
  });

  it('records one change for two concurrent requests with the same plan, and none for a replay', async () => {
    const id = await subscribe(await planOf(1_000));
    const plan_id = await planOf(2_000);
    const send = (key: string) =>
      engine.http
        .post(`/v1/subscriptions/${id}/change`)
        .set('Idempotency-Key', key)
        .send({ plan_id, when: 'now' });
    await Promise.all([send('a'), send('b')]);
    await send('a');
    expect((await changes(id)).map(([kind]) => kind)).toEqual(['new', 'expansion']);
  });

  it('can be read by days of a time zone, and filtered', async () => {
    const id = await subscribe(await planOf(1_000));
    const query = `from=${AT('03-09')}&to=${AT('03-11')}&interval=day&time_zone=America/New_York`;
    const rows = await read<{ window_start: string; mrr: string }>(engine, '', query);
    expect(rows.map(({ window_start, mrr }) => [window_start.slice(5, 16), mrr])).toEqual([
      ['03-09T00:00', '0'],
      ['03-09T04:00', '1000'],
      ['03-10T04:00', '1000'],
    ]);
    expect(await read(engine, '', 'currency=USD')).toEqual([]);
    expect(await read(engine, '/changes', 'currency=EUR&kind=new,churn')).toMatchObject([
      { subscription_id: id, is_backfilled: false },
    ]);
    expect(await read(engine, '/changes', 'kind=churn')).toEqual([]);
    expect(await read(engine, '/changes', `from=${AT('03-10')}`)).toHaveLength(1);
    expect(await read(engine, '/changes', `to=${AT('03-10')}`)).toEqual([]);
  });
});

describe('monthly recurring revenue without subscriptions', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
    engine.clock.set(AT('03-10'));
  });

  afterAll(() => engine.close());

  it('is nothing at first', async () => {
    expect(await read(engine, '')).toEqual([]);
    expect(await read(engine, '/movements')).toEqual([]);
    expect(await read(engine, '/changes')).toEqual([]);
    expect(await read(engine, '', 'to=0001-06-01T00:00:00Z')).toEqual([]);
    expect(await read(engine, '', 'from=9999-10-01T00:00:00Z&to=9999-12-31T23:59:59Z')).toEqual([]);
  });

  it.each([
    ['to=2026-03-10T00:00:00Z', '2025-03-01T00:00:00.000Z'],
    ['to=2026-04-01T00:00:00Z', '2025-04-01T00:00:00.000Z'],
    // With 29 February, a year has 366 days.
    ['to=2028-03-31T12:00:00Z', '2027-03-01T00:00:00.000Z'],
    ['to=2028-02-29T12:00:00Z', '2027-02-01T00:00:00.000Z'],
    ['to=2028-12-31T12:00:00Z&time_zone=Asia/Tokyo', '2027-11-30T15:00:00.000Z'],
    // Mexico had daylight saving time until 2022.
    ['to=2023-10-01T06:00:00Z&time_zone=America/Mexico_City', '2022-10-01T05:00:00.000Z'],
    // No instant before the year 1 is accepted as `from`.
    ['to=0001-12-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['to=0002-01-01T00:00:00Z&time_zone=Asia/Tokyo', '0001-01-01T00:00:00.000Z'],
  ])('begins with the month of a year before: %s', async (query, from) => {
    const answer = await engine.http.get(`/v1/analytics/mrr?${query}`);
    expect(answer.body).toMatchObject({ from });
  });

  it.each([
    ['from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z', 422, 'report_period_empty'],
    ['from=2090-03-01T00:00:00Z', 422, 'report_period_empty'],
    ['to=0001-01-01T00:00:00Z', 422, 'report_period_empty'],
    ['from=1990-01-01T00:00:00Z&interval=day', 422, 'too_many_windows'],
    ['to=0001-01-01T00:00:00Z&from=9999-01-01T00:00:00Z', 422, 'report_period_empty'],
    ['interval=hour', 400, 'validation_failed'],
    ['time_zone=Mars', 400, 'validation_failed'],
    ['currency=euro', 400, 'validation_failed'],
    ['from=yesterday', 400, 'validation_failed'],
  ])('refuses %s', async (query, status, code) => {
    for (const path of ['', '/movements']) {
      const answer = await engine.http.get(`/v1/analytics/mrr${path}?${query}`);
      expect(answer.body).toMatchObject({ status, code });
    }
  });
});

/** Returns the items of a report. */
async function read<Row>({ http }: TestApp, path: string, query = ''): Promise<readonly Row[]> {
  const answer = await http.get(`/v1/analytics/mrr${path}?${query}`);
  expect(answer.status).toBe(200);
  return (answer.body as { data: readonly Row[] }).data;
}

interface Change {
  readonly kind: string;
  readonly subscription_id: string;
  readonly before: number;
  readonly after: number;
  readonly changed_at: string;
}

type Movements = Readonly<
  Record<
    'opening' | 'new' | 'expansion' | 'contraction' | 'churn' | 'reactivation' | 'closing',
    string
  >
>;
