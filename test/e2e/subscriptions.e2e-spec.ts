import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { RenewSubscriptionsWorkflow } from '../../src/modules/billing/subscriptions/renew-subscriptions.workflow';
import { eventsOf } from '../support/test-app';
import { startTestApp, Story, type Invoice, type TestApp } from '../support/story';

describe('subscriptions on the real clock', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  beforeEach(() => {
    engine.clock.set('2026-03-01T00:00:00.000Z');
  });

  async function subscribed(): Promise<{ story: Story; customerId: string; id: string }> {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const customer = await engine.http.post('/v1/customers').send({ name: 'Ada' });
    const customerId = (customer.body as { id: string }).id;
    const plan = await story.plan(1_000);
    const answer = await engine.http
      .post('/v1/subscriptions')
      .send({ customer_id: customerId, plan_id: plan });
    return { story, customerId, id: (answer.body as { id: string }).id };
  }

  async function invoicesOf(customerId: string): Promise<readonly Invoice[]> {
    const { body } = await engine.http.get(`/v1/invoices?customer_id=${customerId}`);
    return (body as { data: readonly Invoice[] }).data;
  }

  async function runAllDue(due: DueSubscriptions): Promise<void> {
    while (await due.runDue());
  }

  it('get one invoice per period from many concurrent workers and a second run', async () => {
    const { customerId, id, story } = await subscribed();
    engine.clock.set('2026-06-01T00:00:00.000Z');
    const due = engine.app.get(DueSubscriptions);
    await Promise.all(Array.from({ length: 6 }, () => runAllDue(due)));
    await runAllDue(due);
    expect((await invoicesOf(customerId)).map(({ period_start }) => period_start)).toEqual([
      '2026-06-01T00:00:00.000Z',
      '2026-05-01T00:00:00.000Z',
      '2026-04-01T00:00:00.000Z',
      '2026-03-01T00:00:00.000Z',
    ]);
    expect((await eventsOf(engine, id)).map(({ type }) => type)).toEqual([
      'subscription.created',
      'subscription.activated',
      'subscription.renewed',
      'subscription.renewed',
      'subscription.renewed',
    ]);
    await story.verify();
  });

  it('with a lease are skipped until it ends, and then renewed', async () => {
    const { customerId, id } = await subscribed();
    engine.clock.set('2026-04-01T00:00:00.000Z');
    await engine.database.query('UPDATE subscription SET lease_ends_at = $2 WHERE id = $1', [
      id,
      '2026-04-01T00:01:00.000Z',
    ]);
    const due = engine.app.get(DueSubscriptions);
    await runAllDue(due);
    expect(await invoicesOf(customerId)).toHaveLength(1);
    engine.clock.set('2026-04-01T00:01:00.000Z');
    await runAllDue(due);
    expect(await invoicesOf(customerId)).toHaveLength(2);
  });

  it('on a test clock are skipped', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    await story.subscribe(await story.plan(1_000));
    engine.clock.set('2027-03-01T00:00:00.000Z');
    await runAllDue(engine.app.get(DueSubscriptions));
    expect(await story.invoices()).toHaveLength(1);
  });

  it('are renewed before a command, which then acts on the current period', async () => {
    const { customerId, id, story } = await subscribed();
    engine.clock.set('2026-04-16T00:00:00.000Z');
    await story.command(id, 'change', { plan_id: await story.plan(3_000), when: 'now' });
    expect(
      (await invoicesOf(customerId)).map(({ lines }) => lines.map(({ amount }) => amount)),
    ).toEqual([[1_500, -500], [1_000], [1_000]]);
    await story.verify();
  });

  it('of a deleted customer end when they fall due, and bill nothing', async () => {
    const { customerId, id } = await subscribed();
    await engine.http.delete(`/v1/customers/${customerId}`).expect(204);
    engine.clock.set('2026-04-01T00:00:00.000Z');
    await runAllDue(engine.app.get(DueSubscriptions));
    expect((await engine.http.get(`/v1/subscriptions/${id}`)).body).toMatchObject({
      status: 'canceled',
      next_billing_at: null,
    });
    expect(await invoicesOf(customerId)).toHaveLength(1);
  });

  it.each([
    ['without a scheduled end', null],
    ['before their scheduled end', '9999-12-31T00:00:00.000Z'],
  ])('that are paused after their period end with their customer, %s', async (_, cancelAt) => {
    const { customerId, id, story } = await subscribed();
    if (cancelAt !== null) await story.command(id, 'cancel', { when: 'at', at: cancelAt });
    await story.command(id, 'pause');
    engine.clock.set('2026-04-01T00:00:00.000Z');
    await runAllDue(engine.app.get(DueSubscriptions));
    const read = () => engine.http.get(`/v1/subscriptions/${id}`);
    expect((await read()).body).toMatchObject({ status: 'paused', next_billing_at: cancelAt });
    if (cancelAt !== null) {
      const due = { id, dueAt: new Date(cancelAt) };
      const renewals = engine.app.get(RenewSubscriptionsWorkflow);
      await renewals.recordFailure(due, 'invoice_too_large', engine.clock.now());
    }
    await engine.http.delete(`/v1/customers/${customerId}`).expect(204);
    expect((await read()).body).toMatchObject({
      status: 'canceled',
      renewal_failed_at: null,
      renewal_failure_code: null,
      cancel_at: null,
      ended_at: '2026-04-01T00:00:00.000Z',
      next_billing_at: null,
    });
    expect(await invoicesOf(customerId)).toHaveLength(1);
  });

  it('that are paused within their period end with it if their customer is deleted', async () => {
    const { customerId, id, story } = await subscribed();
    await story.command(id, 'cancel', { when: 'at', at: '9999-12-31T00:00:00.000Z' });
    await story.command(id, 'pause');
    await engine.http.delete(`/v1/customers/${customerId}`).expect(204);
    const read = async () => (await engine.http.get(`/v1/subscriptions/${id}`)).body as object;
    const end = '2026-04-01T00:00:00.000Z';
    expect(await read()).toMatchObject({ status: 'paused', next_billing_at: end });
    engine.clock.set(end);
    await runAllDue(engine.app.get(DueSubscriptions));
    expect(await read()).toMatchObject({ status: 'canceled', ended_at: end });
  });

  it('have one price after ten concurrent changes, and are credited no more than was billed', async () => {
    const { customerId, id, story } = await subscribed();
    engine.clock.set('2026-03-11T00:00:00.000Z');
    const plans = await Promise.all([2_000, 3_000].map((amount) => story.plan(amount)));
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        story.command(id, 'change', { plan_id: plans[index % 2], when: 'now' }),
      ),
    );
    const { body } = await engine.http.get(`/v1/subscriptions/${id}`);
    const amount = (body as { plan_id: string }).plan_id === plans[0] ? 2_000 : 3_000;
    const billed = (await invoicesOf(customerId)).reduce((sum, { total }) => sum + total, 0);
    // Ten days of the first plan, which are 323 of its 1,000, and 21 of 31 days of the last one.
    expect(billed).toBe(1_000 - 677 + Math.round((amount * 21) / 31));
    await story.verify();
  });

  it.each([
    ['plan', { plan_id: 'plan_01h455vb4pex5vsknk084sn02q' }, 422, 'reference_not_found'],
    ['customer', { customer_id: 'cus_01h455vb4pex5vsknk084sn02q' }, 422, 'reference_not_found'],
    ['start', { start_at: '2020-01-01T00:00:00Z' }, 422, 'subscription_terms_contradict'],
    ['late start', { start_at: '9999-12-31T00:00:00Z' }, 422, 'subscription_terms_contradict'],
    ['coupon', { coupon: 'NOBODY-HAS-IT' }, 422, 'coupon_code_unknown'],
    ['quantity', { quantity: '-1' }, 400, 'validation_failed'],
    ['behaviour', { payment_behavior: 'allow_incomplete' }, 400, 'validation_failed'],
    [
      'payment behaviour with sent invoices',
      { payment_behavior: 'default_incomplete', collection: 'send_invoice' },
      422,
      'subscription_terms_contradict',
    ],
    ['field', { color: 'red' }, 400, 'validation_failed'],
  ])('are refused because of their %s', async (_, fields, status, code) => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const plan_id = await story.plan(1_000);
    const body = { customer_id: story.customerId, plan_id, ...fields };
    for (const path of ['/v1/subscriptions', '/v1/subscriptions?preview=true']) {
      const answer = await engine.http.post(path).send(body);
      expect(answer.body).toMatchObject({ status, code });
    }
    expect(await story.invoices()).toEqual([]);
  });

  it.each([
    ['UTC', '2026-03-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    // Midnight in New York, on a date that has daylight saving time in only one of the years.
    ['America/New_York', '2026-03-09T04:00:00.000Z', '2024-03-09T05:00:00.000Z'],
  ])('start at most two years ago, by the calendar in %s', async (timezone, now, first) => {
    const story = await Story.begin(engine, now, { timezone });
    const plan_id = await story.plan(1_000);
    const startingAt = (start_at: string) =>
      engine.http
        .post('/v1/subscriptions?preview=true')
        .send({ customer_id: story.customerId, plan_id, start_at });
    expect((await startingAt(first)).status).toBe(200);
    const before = new Date(Date.parse(first) - 1).toISOString();
    expect((await startingAt(before)).body).toMatchObject({
      code: 'subscription_terms_contradict',
      errors: [{ pointer: '/start_at', message: 'lies more than two years back' }],
    });
  });

  it.each([
    ['day', 365, '2027-03-01T00:00:00.000Z'],
    ['month', 365, '2056-08-01T00:00:00.000Z'],
    ['year', 365, '2391-03-01T00:00:00.000Z'],
  ])('have a first period of the longest %s interval: %i', async (interval, count, end) => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const terms = { interval, interval_count: count, code: `long-${interval}` };
    const plan_id = await story.plan(1_000, terms);
    const answer = await engine.http
      .post('/v1/subscriptions')
      .send({ customer_id: story.customerId, plan_id });
    expect(answer.body).toMatchObject({ status: 'active', current_period_end: end });
  });

  it('are made with the key of their preview, which does not use it up', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const body = { customer_id: story.customerId, plan_id: await story.plan(1_000) };
    const send = (query: string) =>
      engine.http
        .post(`/v1/subscriptions${query}`)
        .set('Idempotency-Key', `key of ${story.customerId}`)
        .send(body);
    await send('?preview=true').expect(200);
    await send('?preview=true').expect(200);
    const made = await send('').expect(201);
    expect(made.headers['idempotent-replayed']).toBeUndefined();
    expect((await send('')).headers['idempotent-replayed']).toBe('true');
  });

  it('with a plan in another currency than the customer are refused', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'EUR' });
    const answer = await engine.http
      .post('/v1/subscriptions')
      .send({ customer_id: story.customerId, plan_id: await story.plan(1_000) });
    expect(answer.body).toMatchObject({ status: 422, code: 'customer_currency_mismatch' });
  });

  it('refuse commands that their status does not allow, and change nothing', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(1_000));
    const send = async (command: string, body: object = {}) =>
      (await engine.http.post(`/v1/subscriptions/${id}/${command}`).send(body)).body as object;
    expect(await send('resume')).toMatchObject({
      status: 409,
      code: 'invalid_transition',
      detail:
        'The subscription is active and cannot become active. Resume it only while it is paused.',
    });
    expect(await send('uncancel')).toMatchObject({ code: 'subscription_not_canceling' });
    expect(await send('cancel', { when: 'at' })).toMatchObject({
      code: 'subscription_terms_contradict',
      detail: '/at is required for `when: at`.',
    });
    expect(await send('cancel', { when: 'now', at: '2026-03-09T00:00:00Z' })).toMatchObject({
      code: 'subscription_terms_contradict',
      detail: '/at can only be sent with `when: at`.',
    });
    await story.command(id, 'pause');
    expect(await send('pause')).toMatchObject({
      status: 409,
      code: 'invalid_transition',
      detail:
        'The subscription is paused and cannot become paused. Pause it only while it is active.',
    });
    expect(await send('change', { quantity: '2', when: 'now' })).toMatchObject({
      code: 'subscription_not_running',
    });
    const before = await story.subscription(id);
    expect(await send('change', { quantity: '2', when: 'period_end' })).toMatchObject({
      status: 409,
    });
    expect(await story.subscription(id)).toEqual(before);
    await story.command(id, 'cancel', { when: 'now' });
    expect(await send('cancel', { when: 'now' })).toMatchObject({
      status: 409,
      code: 'invalid_transition',
      detail:
        'The subscription is canceled and cannot become canceled. It has ended: create another one to continue.',
    });
  });

  it('cannot be paused in a trial', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(1_000), { trial_days: 14 });
    const { body } = await engine.http.post(`/v1/subscriptions/${id}/pause`).send();
    expect(body).toMatchObject({
      status: 409,
      code: 'invalid_transition',
      detail:
        'The subscription is trialing and cannot become paused. Pause it only while it is active.',
    });
  });

  it('are created once for one key', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const body = { customer_id: story.customerId, plan_id: await story.plan(1_000) };
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        engine.http.post('/v1/subscriptions').set('Idempotency-Key', story.clockId).send(body),
      ),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await story.invoices()).toHaveLength(1);
  });

  it('are active at once unless they wait for their first payment', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const plan = await story.plan(1_000);
    expect(await story.subscribe(plan)).toMatchObject({
      status: 'active',
      payment_behavior: 'allow_active',
      incomplete_expires_at: null,
    });
    const waits = {
      customer_id: story.customerId,
      plan_id: plan,
      payment_behavior: 'default_incomplete',
    };
    const preview = await engine.http.post('/v1/subscriptions?preview=true').send(waits);
    expect(preview.body).toMatchObject({ total: 1_000, reason: 'subscription_start' });
    const answers = await Promise.all(
      Array.from({ length: 3 }, () =>
        engine.http.post('/v1/subscriptions').set('Idempotency-Key', story.clockId).send(waits),
      ),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({
      status: 'incomplete',
      incomplete_expires_at: '2026-03-01T23:00:00.000Z',
    });
    expect(await story.invoices()).toHaveLength(2);
    const listed = async (status: string): Promise<number> => {
      const query = { customer_id: story.customerId, status };
      const { body } = await engine.http.get('/v1/subscriptions').query(query);
      return (body as { data: readonly unknown[] }).data.length;
    };
    expect([await listed('active'), await listed('incomplete')]).toEqual([1, 1]);
    await story.advance('2026-03-02T00:00:00.000Z');
    expect([await listed('active'), await listed('incomplete_expired')]).toEqual([1, 1]);
  });

  it.each(['2026-01-10', '2026-03-01', '2026-03-10'])(
    'are previewed with their first invoice, if they owe nothing at their start on %s',
    async (date) => {
      const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
      const base = { name: 'Base', model: 'flat', timing: 'in_arrears', amount: 3_100 };
      const { id: plan_id } = await story.planOf([base]);
      const start_at = `${date}T00:00:00.000Z`;
      const waits = { start_at, payment_behavior: 'default_incomplete' };
      const body = { customer_id: story.customerId, plan_id, ...waits };
      const { body: preview } = await engine.http.post('/v1/subscriptions?preview=true').send(body);
      await story.subscribe(plan_id, waits);
      await story.advance('2026-04-10T00:00:00.000Z');
      const [issued] = await story.invoices();
      const { total, period_start, period_end } = issued ?? {};
      expect({ total, period_start }).toEqual({ total: 3_100, period_start: start_at });
      expect(preview).toMatchObject({ total, period_start, period_end, reason: 'renewal' });
      expect(preview).toMatchObject({
        bills_at: date < '2026-03' ? '2026-03-01T00:00:00.000Z' : period_end,
      });
    },
  );

  it('have no overlapping periods, enforced by the database', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const { id } = await story.subscribe(await story.plan(1_000));
    await expect(
      engine.database.query(
        `INSERT INTO subscription_period SELECT 'sp_other', subscription_id, 7, start_at + interval '1 day',
           end_at, full_start_at, full_end_at, false, false FROM subscription_period WHERE subscription_id = $1`,
        [id],
      ),
    ).rejects.toThrow('subscription_period_overlap');
  });
});
