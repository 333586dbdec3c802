import { Client } from 'pg';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { RenewSubscriptionsWorkflow } from '../../src/modules/billing/subscriptions/renew-subscriptions.workflow';
import { verifyLedger } from '../support/ledger';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, Story, type TestApp } from '../support/story';

const DAY_MS = 86_400_000;

describe('a subscription that starts far in the past', () => {
  let engine: TestApp;
  let planId = '';
  let customerId = '';

  const send = async (path: string, body: object, key?: string) => {
    const request = engine.http.post(path);
    if (key !== undefined) void request.set('Idempotency-Key', key);
    return request.send(body);
  };

  const create = async (path: string, body: object): Promise<string> => {
    const answer = await send(path, body);
    expect({ path, status: answer.status, body: answer.body as object }).toMatchObject({
      status: 201,
    });
    return (answer.body as { id: string }).id;
  };

  beforeEach(async () => {
    engine = await startTestApp();
    planId = await create('/v1/plans', {
      code: 'daily',
      name: 'Daily',
      currency: 'USD',
      interval: 'day',
      prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 100 }],
    });
    customerId = await create('/v1/customers', { name: 'Ada Lovelace' });
  });

  afterEach(() => engine.close());

  const daysAgo = (days: number): string =>
    new Date(engine.clock.now().getTime() - days * DAY_MS).toISOString();

  const subscribing = (days: number) => ({
    customer_id: customerId,
    plan_id: planId,
    start_at: daysAgo(days),
  });

  const invoiceNumbers = async (): Promise<readonly string[]> => {
    const rows = await engine.database.query<{ number: string }>(
      'SELECT number FROM invoice ORDER BY period_start_at',
    );
    return rows.map(({ number }) => number);
  };

  /** Runs due work until none is left; returns the number of invoices of each commit. */
  const workOff = async (): Promise<readonly number[]> => {
    const due = engine.app.get(DueSubscriptions);
    const made: number[] = [];
    let before = (await invoiceNumbers()).length;
    while (await due.runDue()) {
      const after = (await invoiceNumbers()).length;
      made.push(after - before);
      before = after;
    }
    return made;
  };

  it('bills its first period at once, and each later period in a commit of its own', async () => {
    const answer = await send('/v1/subscriptions', subscribing(60), 'start');
    expect(answer.body).toMatchObject({ status: 'active', current_period_start: daysAgo(60) });
    expect(await invoiceNumbers()).toEqual(['INV-000001']);
    expect(await workOff()).toEqual(Array.from({ length: 60 }, () => 1));
    const numbers = Array.from(
      { length: 61 },
      (_, index) => `INV-${String(index + 1).padStart(6, '0')}`,
    );
    expect(await invoiceNumbers()).toEqual(numbers);
    const { id } = answer.body as { id: string };
    const now = await engine.http.get(`/v1/subscriptions/${id}`);
    expect(now.body).toMatchObject({
      current_period_start: daysAgo(0),
      next_billing_at: daysAgo(-1),
    });
    const replay = await send('/v1/subscriptions', subscribing(60), 'start');
    expect(replay.body).toEqual(answer.body);
    expect((await invoiceNumbers()).length).toBe(61);
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });

  it('accepts a year of daily periods, and names the limit when it refuses more', async () => {
    expect((await send('/v1/subscriptions', subscribing(365))).status).toBe(201);
    for (const preview of ['', '?preview=true']) {
      const answer = await send(`/v1/subscriptions${preview}`, subscribing(366));
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({
        code: 'subscription_terms_contradict',
        errors: [{ pointer: '/start_at', message: 'lies more than 366 billing periods back' }],
      });
    }
    expect((await invoiceNumbers()).length).toBe(1);
  });

  it.each([
    ['change', { quantity: '2', when: 'now' }, 'active'],
    ['cancel', { when: 'now' }, 'canceled'],
    ['pause', {}, 'paused'],
  ])(
    'refuses to %s while many periods are unbilled, and accepts it afterwards',
    async (command, body, status) => {
      const started = await send('/v1/subscriptions', subscribing(40));
      const path = `/v1/subscriptions/${(started.body as { id: string }).id}/${command}`;
      const refused = await send(path, body, 'command');
      expect(refused.status).toBe(409);
      expect(refused.body).toMatchObject({ code: 'subscription_behind' });
      expect(refused.headers['retry-after']).toBe('5');
      await workOff();
      expect((await send(path, body, 'command')).body).toMatchObject({ status });
      expect((await invoiceNumbers()).length).toBe(41);
    },
  );

  it('bills a few overdue periods in the commit of a command', async () => {
    const started = await send('/v1/subscriptions', subscribing(12));
    const { id } = started.body as { id: string };
    const answer = await send(`/v1/subscriptions/${id}/cancel`, { when: 'now' });
    expect(answer.body).toMatchObject({ status: 'canceled', current_period_start: daysAgo(0) });
    expect((await invoiceNumbers()).length).toBe(13);
  });

  const startedAt = '2025-03-18T00:00:00.000Z';
  const seats = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '3100' };

  const subscribeMonthly = async (fields: object = {}): Promise<string> => {
    const monthly = { code: 'monthly', name: 'Monthly', currency: 'USD', interval: 'month' };
    const plan = await create('/v1/plans', { ...monthly, prices: [seats] });
    return create('/v1/subscriptions', { customer_id: customerId, plan_id: plan, ...fields });
  };

  const totals = async (): Promise<readonly number[]> => {
    const { body } = await engine.http.get(`/v1/invoices?limit=100&customer_id=${customerId}`);
    return (body as { data: { total: number }[] }).data.map(({ total }) => total).reverse();
  };

  it.each([
    ['cancel', { when: 'now' }, { status: 'canceled' }, []],
    ['cancel', { when: 'period_end' }, { cancel_at: '2026-03-25T00:00:00.000Z' }, []],
    ['pause', {}, { status: 'paused' }, []],
    ['change', { quantity: '2', when: 'now' }, { quantity: '2' }, [2_657]],
    ['change', { quantity: '2', when: 'now', proration: 'none' }, { quantity: '2' }, []],
    ['coupons', { code: 'HALF' }, {}, []],
  ])(
    'bills the end of a trial and a year of renewals before the command %s %j',
    async (command, body, changed, further) => {
      const coupon = { code: 'HALF', type: 'percent', percent_off: '50', duration: 'once' };
      await create('/v1/coupons', coupon);
      const id = await subscribeMonthly({ start_at: startedAt, trial_days: 7 });
      const answer = await send(`/v1/subscriptions/${id}/${command}`, body);
      expect(answer.body).toMatchObject({
        ...changed,
        current_period_start: '2026-02-25T00:00:00.000Z',
      });
      await workOff();
      expect(await totals()).toEqual([...Array.from({ length: 12 }, () => 3_100), ...further]);
    },
  );

  it('bills a planned start, a trial and eleven months before a command', async () => {
    const id = await subscribeMonthly({ start_at: daysAgo(-1), trial_days: 7 });
    engine.clock.set('2027-02-10T00:00:00.000Z');
    const answer = await send(`/v1/subscriptions/${id}/pause`, {});
    expect(answer.body).toMatchObject({
      status: 'paused',
      current_period_start: '2027-02-09T09:30:00.000Z',
    });
    expect((await totals()).length).toBe(12);
  });

  it('refuses commands while many periods after a scheduled change to days are unbilled', async () => {
    const id = await subscribeMonthly();
    await send(`/v1/subscriptions/${id}/change`, { plan_id: planId, when: 'period_end' });
    engine.clock.set('2026-04-20T12:00:00.000Z');
    for (const path of ['cancel', 'cancel?preview=true']) {
      const refused = await send(`/v1/subscriptions/${id}/${path}`, { when: 'now' });
      expect(refused.body).toMatchObject({ status: 409, code: 'subscription_behind' });
    }
    expect(await totals()).toEqual([3_100]);
    await workOff();
    const canceled = await send(`/v1/subscriptions/${id}/cancel`, { when: 'now' });
    expect(canceled.body).toMatchObject({ current_period_start: '2026-04-20T09:30:00.000Z' });
    expect((await totals()).length).toBe(21);
  });

  it('has its coupon on a period that is billed by a clock a little behind that of its start', async () => {
    const coupon = { code: 'HALF', type: 'percent', percent_off: '50', duration: 'forever' };
    await create('/v1/coupons', coupon);
    const id = await create('/v1/subscriptions', { ...subscribing(2), coupon: coupon.code });
    const behind = new Date(engine.clock.now().getTime() - 80);
    await engine.app.get(RenewSubscriptionsWorkflow).runNext([id], behind);
    await workOff();
    const { body } = await engine.http.get('/v1/invoices').query({ subscription_id: id });
    const { data } = body as { data: readonly { readonly discount: number }[] };
    expect(data.map(({ discount }) => discount)).toEqual([50, 50, 50]);
  });

  it('is billed by the time after the claim of its due work, which is not before its start', async () => {
    const id = await create('/v1/subscriptions', subscribing(2));
    const before = engine.clock.now();
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE subscription IN ACCESS EXCLUSIVE MODE');
      const run = engine.app.get(DueSubscriptions).runDue();
      await untilSessionsWait(engine.database);
      engine.clock.advanceMs(80);
      await holder.query('ROLLBACK');
      await run;
    } finally {
      await holder.end();
    }
    const rows = await engine.database.query<{ createdAt: Date }>(
      'SELECT created_at AS "createdAt" FROM invoice WHERE subscription_id = $1 ORDER BY created_at',
      [id],
    );
    expect(rows[0]?.createdAt).toEqual(before);
    expect(rows.at(-1)?.createdAt).toEqual(engine.clock.now());
  });

  it('previews the invoice of its first period, if all prices are in arrears', async () => {
    const story = await Story.begin(engine, '2026-06-01T00:00:00.000Z');
    const meter = await story.meter();
    const plan = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_arrears', amount: 3_100 },
      {
        name: 'Units',
        model: 'per_unit',
        timing: 'in_arrears',
        meter_id: meter.id,
        unit_amount: '10',
      },
    ]);
    await story.reportUsage(meter.event, '2026-04-20T00:00:00.000Z', { n: 7 });
    const terms = { plan_id: plan.id, start_at: '2026-04-15T00:00:00.000Z' };
    const preview = await send('/v1/subscriptions?preview=true', {
      customer_id: story.customerId,
      ...terms,
    });
    expect(preview.body).toMatchObject({
      reason: 'renewal',
      bills_at: '2026-06-01T00:00:00.000Z',
      period_start: '2026-04-15T00:00:00.000Z',
      period_end: '2026-05-15T00:00:00.000Z',
      total: 3_170,
    });
    await story.subscribe(plan.id, terms);
    expect((await story.invoices()).map(({ total }) => total)).toEqual([3_170]);
    await story.verify();
  });

  it('on a test clock is completed by the next advance, in due order', async () => {
    const story = await Story.begin(engine, '2026-06-01T00:00:00.000Z');
    const { id } = await story.subscribe(planId, { start_at: '2026-04-02T00:00:00.000Z' });
    expect((await story.invoices()).length).toBe(15);
    const answer = await send(`/v1/subscriptions/${id}/pause`, {});
    expect(answer.body).toMatchObject({ code: 'subscription_behind' });
    await story.advance('2026-06-02T00:00:00.000Z');
    const starts = Array.from({ length: 62 }, (_, index) =>
      new Date(Date.parse('2026-04-02T00:00:00.000Z') + index * DAY_MS).toISOString(),
    );
    expect(await story.starts()).toEqual(starts);
    await story.verify();
  });
});
