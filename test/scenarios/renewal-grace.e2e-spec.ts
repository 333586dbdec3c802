import { DUE_DRAFTS } from '../../src/modules/invoicing';
import { DueRowsRepository } from '../../src/modules/test-clocks/due-rows.repository';
import { DueDrafts } from '../../src/modules/billing/invoices/due-drafts';
import { FinalizeDueDraftsWorkflow } from '../../src/modules/billing/invoices/finalize-due-drafts.workflow';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { type Invoice, startTestApp, Story, type TestApp } from '../support/story';
import { untilOthersRest } from '../support/lock-waits';
import { runRenewals } from '../support/run-renewals';
import { eventsOf } from '../support/test-app';

const START = '2026-03-01T00:00:00.000Z';
const BOUNDARY = '2026-04-01T00:00:00.000Z';
const GRACE_OVER = '2026-04-04T00:00:00.000Z';
const GRACE_HOURS = 72;

const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 };
const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };

interface Draft extends Invoice {
  readonly finalizes_at: string | null;
  readonly due_at: string | null;
}

describe('a renewal invoice with a grace period', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const invoicesOf = async (story: Story): Promise<readonly Draft[]> =>
    (await story.invoices()) as readonly Draft[];
  const last = async (story: Story): Promise<Draft> => {
    const invoice = (await invoicesOf(story)).at(-1);
    if (invoice === undefined) throw new Error('There is no invoice.');
    return invoice;
  };
  const typesOf = async (id: string): Promise<readonly string[]> =>
    (await eventsOf(engine, id)).map(({ type }) => type);
  const finalize = (id: string) => engine.http.post(`/v1/invoices/${id}/finalize`);

  /** Subscribes a customer to 30.00 a month and calls at 0.10, with a grace period of three days. */
  async function subscriber(fields: Readonly<Record<string, unknown>> = {}) {
    const story = await Story.begin(engine, START, { invoice_grace_hours: GRACE_HOURS });
    const { id: meter_id, event } = await story.meter({ aggregation: 'count' });
    const plan = await story.planOf([base, { ...calls, meter_id }]);
    const { id } = await story.subscribe(plan.id, { collection: 'send_invoice', ...fields });
    return { story, id, event, meter_id };
  }

  it('is a draft that includes late usage until its grace period ends', async () => {
    const { story, event } = await subscriber();
    await story.reportUsage(event, START);
    await story.advance('2026-04-02T00:00:00.000Z');
    const draft = await last(story);
    expect(draft).toMatchObject({
      number: null,
      status: 'draft',
      reason: 'renewal',
      finalizes_at: GRACE_OVER,
      finalized_at: null,
      due_at: null,
      total: 3_010,
    });
    expect(await typesOf(draft.id)).toEqual(['invoice.created']);
    await story.reportUsage(event, '2026-03-31T23:59:59.999Z');
    await story.advance('2026-04-03T23:59:59.999Z');
    expect((await last(story)).status).toBe('draft');
    await story.advance(GRACE_OVER);
    const invoice = await last(story);
    expect(invoice).toMatchObject({
      id: draft.id,
      status: 'open',
      finalizes_at: null,
      finalized_at: GRACE_OVER,
      total: 3_020,
    });
    expect(invoice.lines.map(({ id }) => id)).toEqual(draft.lines.map(({ id }) => id));
    expect((await typesOf(draft.id)).slice(0, 2)).toEqual(['invoice.created', 'invoice.finalized']);
    expect((await eventsOf(engine, draft.id))[1]?.data.previous).toMatchObject({
      status: 'draft',
      finalizes_at: GRACE_OVER,
      total: 3_010,
    });
    await story.reportUsage(event, '2026-03-31T23:59:59.999Z');
    await story.advance('2026-05-06T00:00:00.000Z');
    expect((await story.lines()).slice(1)).toEqual([
      [
        ['recurring', '1', 3_000],
        ['usage', '2', 20],
      ],
      [
        ['recurring', '1', 3_000],
        ['usage', '1', 10],
      ],
    ]);
    await story.verify();
  });

  it('is part of the usage that is not billed yet while it is a draft', async () => {
    const story = await Story.begin(engine, START, { invoice_grace_hours: GRACE_HOURS });
    const { id: meter_id, event } = await story.meter({ aggregation: 'count' });
    const plan = await story.planOf([base, { ...calls, meter_id, minimum_amount: 25 }]);
    const { id: subscription_id } = await story.subscribe(plan.id);
    await story.reportUsage(event, START);
    await story.advance('2026-05-02T00:00:00.000Z');
    await story.reportUsage(event, '2026-03-20T00:00:00.000Z');
    const draft = await last(story);
    const april = { period_start: BOUNDARY, period_end: '2026-05-01T00:00:00.000Z' };
    for (const day of ['04-05', '04-06', '04-30'])
      await story.reportUsage(event, `2026-${day}T00:00:00Z`);
    const ofMay = { invoice_id: null, is_late: false, groups: [{ quantity: '0' }], amount: 25 };
    // Late usage of March is on whichever invoice is finalized first, once.
    const ofMarch = { invoice_id: null, is_late: true, period_start: START, amount: 0 };
    expect(await story.usage()).toMatchObject([
      ofMay,
      ofMarch,
      {
        subscription_id,
        invoice_id: draft.id,
        is_late: false,
        ...april,
        groups: [{ quantity: '3', events: 3, amount: 30 }],
        amount: 30,
      },
    ]);
    expect(draft).toMatchObject({ status: 'draft', total: 3_025 });
    await story.command(subscription_id, 'cancel', { when: 'now' });
    expect(await story.usage()).toEqual([]);
    await story.verify();
  });

  it('is finalized after its subscription has ended', async () => {
    const { story, id, event } = await subscriber();
    await story.command(id, 'cancel', { when: 'period_end' });
    await story.advance(BOUNDARY);
    await story.reportUsage(event, '2026-03-31T00:00:00.000Z');
    const { id: invoice_id } = await last(story);
    expect(await story.usage()).toMatchObject([{ invoice_id, amount: 10 }]);
    await story.advance(GRACE_OVER);
    expect(await story.usage()).toEqual([]);
    expect(await last(story)).toMatchObject({ id: invoice_id, status: 'open', total: 10 });
    await story.verify();
  });

  it('is finalized early by a request, and not again afterwards', async () => {
    const { story, event } = await subscriber();
    await story.reportUsage(event, START);
    await story.advance('2026-04-02T00:00:00.000Z');
    await story.reportUsage(event, '2026-03-20T00:00:00.000Z');
    const { id } = await last(story);
    const [one, other] = await Promise.all([finalize(id), finalize(id)]);
    expect([one.status, other.status].sort()).toEqual([200, 409]);
    expect(await last(story)).toMatchObject({
      status: 'open',
      finalizes_at: null,
      finalized_at: '2026-04-02T00:00:00.000Z',
      total: 3_020,
    });
    await story.advance(GRACE_OVER);
    expect((await typesOf(id)).slice(0, 2)).toEqual(['invoice.created', 'invoice.finalized']);
    await story.verify();
  });

  it('cannot be deleted or voided while it is a draft', async () => {
    const { story } = await subscriber();
    await story.advance(BOUNDARY);
    const { id } = await last(story);
    const deleted = await engine.http.delete(`/v1/invoices/${id}`);
    expect(deleted.status).toBe(409);
    expect(deleted.body).toMatchObject({ code: 'invoice_bills_period' });
    const voided = await engine.http.post(`/v1/invoices/${id}/void`);
    expect(voided.body).toMatchObject({ code: 'invalid_transition' });
    const patched = await engine.http.patch(`/v1/invoices/${id}`).send({ metadata: { a: 1 } });
    expect(patched.status).toBe(200);
    await story.advance(GRACE_OVER);
    expect(await last(story)).toMatchObject({ status: 'open', metadata: { a: 1 } });
    await story.verify();
  });

  it('waits as an empty draft for usage, and is deleted if none arrives', async () => {
    const story = await Story.begin(engine, START, { invoice_grace_hours: GRACE_HOURS });
    const { id: meter_id, event } = await story.meter({ aggregation: 'count' });
    const plan = await story.planOf([{ ...calls, meter_id }]);
    await story.subscribe(plan.id);
    await story.advance('2026-04-02T00:00:00.000Z');
    const first = await last(story);
    expect(first).toMatchObject({ status: 'draft', total: 0, lines: [] });
    const early = await finalize(first.id);
    expect([early.status, early.body]).toMatchObject([409, { code: 'invoice_empty' }]);
    await story.reportUsage(event, '2026-03-31T00:00:00.000Z');
    await story.advance('2026-05-02T00:00:00.000Z');
    expect(await invoicesOf(story)).toMatchObject([
      { id: first.id, status: 'open', total: 10 },
      { status: 'draft', lines: [] },
    ]);
    const { id } = await last(story);
    await story.advance('2026-05-05T00:00:00.000Z');
    expect(await story.invoices()).toHaveLength(1);
    expect(await typesOf(id)).toEqual(['invoice.created', 'invoice.deleted']);
    await story.reportUsage(event, '2026-04-30T00:00:00.000Z');
    await story.reportUsage(event, '2026-05-01T00:00:00.000Z');
    await story.advance('2026-06-04T00:00:00.000Z');
    expect((await story.amounts()).at(-1)).toEqual([10, 10]);
    await story.verify();
  });

  it('is finalized before a prepaid line of it is credited', async () => {
    const { story, id, meter_id } = await subscriber();
    const expensivePlan = await story.planOf([
      { ...base, amount: 6_000 },
      { ...calls, meter_id },
    ]);
    await story.advance('2026-04-02T00:00:00.000Z');
    const path = `/v1/subscriptions/${id}/change?preview=true`;
    const change = { plan_id: expensivePlan.id, when: 'now' };
    const preview = await engine.http.post(path).send(change);
    expect(preview.body).toMatchObject({ lines: [{ amount: 5_800 }, { amount: -2_900 }] });
    expect((await last(story)).status).toBe('draft');
    await story.command(id, 'change', change);
    expect(await invoicesOf(story)).toMatchObject([
      { reason: 'subscription_start' },
      { reason: 'renewal', status: 'open', total: 3_000 },
      { reason: 'change', status: 'open', total: 2_900 },
    ]);
    await story.advance('2026-06-05T00:00:00.000Z');
    await story.verify();
  });

  it('stays a draft if a change credits an item that it does not charge', async () => {
    const { story, id } = await subscriber();
    const { body: addon } = await engine.http.post('/v1/addons').send({
      code: 'support-of-drafts',
      name: 'Support',
      currency: 'USD',
      prices: [{ ...base, name: 'Support', amount: 600 }],
    });
    const { id: addon_id } = addon as { id: string };
    await story.advance('2026-04-02T00:00:00.000Z');
    const change = { when: 'now', addons: [{ addon_id, quantity: '1' }] };
    await story.command(id, 'change', change);
    await story.command(id, 'change', { ...change, addons: [] });
    expect(await invoicesOf(story)).toMatchObject([
      { reason: 'subscription_start' },
      { reason: 'renewal', status: 'draft', finalizes_at: GRACE_OVER, total: 3_000 },
      { reason: 'change', total: 580 },
      { reason: 'change', total: -580 },
    ]);
    await story.advance('2026-06-05T00:00:00.000Z');
    await story.verify();
  });

  it.each([true, false])(
    'is finalized before its subscription ends now with credit for the unused part: %s',
    async (credit_unused) => {
      const { story, id } = await subscriber();
      await story.advance('2026-04-02T00:00:00.000Z');
      await story.command(id, 'cancel', { when: 'now', credit_unused });
      const [, renewal] = await invoicesOf(story);
      expect(renewal).toMatchObject({ reason: 'renewal', status: 'open', finalizes_at: null });
      await story.advance('2026-06-01T00:00:00.000Z');
      expect(await deferredOf(story)).toBe(0);
      await story.verify();
    },
  );

  it('is finalized before a scheduled end within its grace period', async () => {
    const { story, id } = await subscriber();
    const at = '2026-04-03T12:00:00.000Z';
    await story.command(id, 'cancel', { when: 'at', at, credit_unused: true });
    await story.advance('2026-04-02T00:00:00.000Z');
    expect((await last(story)).status).toBe('draft');
    await story.advance('2026-06-01T00:00:00.000Z');
    const [, renewal, end] = await invoicesOf(story);
    expect(renewal).toMatchObject({ reason: 'renewal', finalized_at: at });
    expect(end).toMatchObject({ reason: 'end', finalized_at: at, total: -2_700 });
    expect(await deferredOf(story)).toBe(0);
    await story.verify();
  });

  it('with usage alone stays a draft after its subscription ended, and includes usage until then', async () => {
    const story = await Story.begin(engine, START, { invoice_grace_hours: GRACE_HOURS });
    const { id: meter_id, event } = await story.meter({ aggregation: 'count' });
    const plan = await story.planOf([{ ...calls, meter_id }]);
    const { id } = await story.subscribe(plan.id);
    await story.advance('2026-04-02T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now' });
    await story.reportUsage(event, '2026-03-31T00:00:00.000Z');
    await story.advance(GRACE_OVER);
    expect(await invoicesOf(story)).toMatchObject([
      { reason: 'renewal', status: 'open', total: 10 },
    ]);
    await story.verify();
  });

  it('stays a draft when its subscription ends with the period, and keeps its coupon', async () => {
    const { story, id, event } = await subscriber({ coupon: await coupon() });
    await story.command(id, 'cancel', { when: 'period_end' });
    await story.advance('2026-04-02T00:00:00.000Z');
    expect((await story.subscription(id)).status).toBe('canceled');
    expect(await last(story)).toMatchObject({ reason: 'end', status: 'draft', lines: [] });
    await story.reportUsage(event, '2026-03-31T00:00:00.000Z');
    await story.advance(GRACE_OVER);
    expect(await last(story)).toMatchObject({ status: 'open', subtotal: 10, discount: 5 });
    await story.verify();
  });

  it('does not use a coupon that was redeemed after the period, or the same coupon twice', async () => {
    const { story, id } = await subscriber();
    await story.advance('2026-04-02T00:00:00.000Z');
    await story.command(id, 'coupons', { code: await coupon({ duration: 'once' }) });
    await story.advance('2026-07-10T00:00:00.000Z');
    expect((await story.invoices()).map(({ discount }) => discount)).toEqual([0, 0, 1_500, 0, 0]);
    await story.verify();
  });

  it('exists once per period, also if several are drafts at once', async () => {
    const story = await Story.begin(engine, START, { invoice_grace_hours: 720 });
    const { id: meter_id, event } = await story.meter({ aggregation: 'count' });
    const prices = [
      { ...base, amount: 700 },
      { ...calls, meter_id },
    ];
    const plan = await story.planOf(prices, { interval: 'week' });
    const gift = { type: 'amount', amount_off: 1_000, currency: 'USD', duration: 'once' };
    const terms = { coupon: await coupon(gift), collection: 'send_invoice' };
    const { id } = await story.subscribe(plan.id, terms);
    await story.advance('2026-03-30T00:00:00.000Z');
    expect((await invoicesOf(story)).map(({ status }) => status)).toEqual([
      'paid',
      ...Array<string>(4).fill('draft'),
    ]);
    for (const day of ['01', '08', '09', '29']) {
      await story.reportUsage(event, `2026-03-${day}T00:00:00.000Z`);
    }
    await story.command(id, 'cancel', { when: 'period_end' });
    await story.advance('2026-05-31T00:00:00.000Z');
    const invoices = await invoicesOf(story);
    expect(invoices.map(({ total }) => total).slice(0, 6)).toEqual([0, 410, 720, 700, 700, 10]);
    expect(invoices.slice(0, 6).map(({ subtotal }) => subtotal)).toEqual([
      700, 710, 720, 700, 700, 10,
    ]);
    const boundaries = await engine.database.query<{ count: number }>(
      'SELECT count(DISTINCT renews_at)::int FROM invoice WHERE customer_id = $1',
      [story.customerId],
    );
    expect([boundaries[0]?.count, invoices.length]).toEqual([6, 6]);
    expect(await deferredOf(story)).toBe(0);
    await story.verify();
  });

  it('bills late usage of an earlier period once', async () => {
    const { story, event } = await subscriber();
    await story.advance('2026-04-10T00:00:00.000Z');
    await story.reportUsage(event, START);
    await story.advance('2026-05-02T00:00:00.000Z');
    expect((await last(story)).lines.map(({ amount }) => amount)).toEqual([3_000, 10]);
    await story.reportUsage(event, START);
    await story.advance('2026-07-05T00:00:00.000Z');
    expect((await story.amounts()).slice(2)).toEqual([[3_000, 20], [3_000], [3_000]]);
    await story.verify();
  });

  it('includes events that its meter would reject as late, until it is finalized', async () => {
    const story = await Story.begin(engine, START, { invoice_grace_hours: GRACE_HOURS });
    const meter = await story.meter({ aggregation: 'count', late_events: 'reject' });
    const plan = await story.planOf([base, { ...calls, meter_id: meter.id }]);
    await story.subscribe(plan.id);
    await story.advance('2026-04-02T00:00:00.000Z');
    const key = await story.reportUsage(meter.event, '2026-03-31T00:00:00.000Z');
    await story.reportUsage(meter.event, '2026-03-30T00:00:00.000Z');
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key });
    await story.advance(GRACE_OVER);
    expect((await story.amounts()).at(-1)).toEqual([3_000, 10]);
    await expect(story.reportUsage(meter.event, '2026-03-30T00:00:00.000Z')).rejects.toThrow(
      'usage_late',
    );
    await story.verify();
  });

  it('is finalized also after its customer was deleted, and purged with its test clock', async () => {
    const { story } = await subscriber();
    await story.advance('2026-04-02T00:00:00.000Z');
    const { id } = await last(story);
    await engine.http.delete(`/v1/customers/${story.customerId}`);
    await story.advance(GRACE_OVER);
    expect((await engine.http.get(`/v1/invoices/${id}`)).body).toMatchObject({ status: 'open' });
    await story.advance('2026-05-02T00:00:00.000Z');
    await story.verify();
    const { story: other } = await subscriber();
    await other.advance('2026-04-02T00:00:00.000Z');
    const waiting = await last(other);
    const { status } = await engine.http.delete(`/v1/test-clocks/${other.clockId}`);
    expect(status).toBe(204);
    expect((await engine.http.get(`/v1/invoices/${waiting.id}`)).status).toBe(404);
  });

  it('of a past period is finalized at once, because its grace period is over', async () => {
    const { story } = await subscriber({ start_at: '2026-01-15T00:00:00.000Z' });
    expect((await invoicesOf(story)).map(({ status }) => status)).toEqual(['open', 'open']);
    await story.verify();
  });

  const deferredOf = async (story: Story): Promise<number> => {
    const [row] = await engine.database.query<{ amount: string }>(
      `SELECT coalesce(sum(posting.amount_minor), 0)::text AS amount FROM ledger_posting posting
         JOIN ledger_transaction one ON one.id = posting.transaction_id
       WHERE one.customer_id = $1 AND posting.account = 'deferred_revenue'`,
      [story.customerId],
    );
    return Number(row?.amount);
  };

  let coupons = 0;
  async function coupon(fields: object = {}): Promise<string> {
    coupons += 1;
    const code = `GRACE-${coupons}`;
    const terms = { type: 'percent', duration: 'forever', ...fields };
    const off = terms.type === 'percent' ? { percent_off: '50' } : {};
    const { status } = await engine.http.post('/v1/coupons').send({ code, ...off, ...terms });
    expect(status).toBe(201);
    return code;
  }
});

describe('renewal drafts in real time', () => {
  const MANY = 60;
  const LEASE_OVER_MS = 61_000;
  const KILLING_LIMIT_MS = 300_000;
  let engine: TestApp;

  beforeEach(async () => {
    const environment = { INVOICE_GRACE_HOURS: '1', LOG_LEVEL: 'fatal' };
    engine = await startTestApp({ environment });
    engine.clock.set(START);
  });

  afterEach(() => engine.close());

  const create = async (path: string, body: object): Promise<string> => {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect({ path, status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
    return (answer.body as { id: string }).id;
  };

  /** Creates subscribers of one price, whose drafts are due. */
  async function renewMany(count: number): Promise<void> {
    const plan = { code: 'flat', name: 'Plan', currency: 'USD', interval: 'month', prices: [base] };
    const plan_id = await create('plans', plan);
    for (let index = 0; index < count; index += 1) {
      const customer_id = await create('customers', { name: 'Ada Lovelace' });
      await create('subscriptions', { customer_id, plan_id });
    }
    engine.clock.set(BOUNDARY);
    while (await engine.app.get(DueSubscriptions).runDue());
    expect(await statuses()).toEqual({ draft: count, open: count });
    expect(await engine.app.get(DueDrafts).runDue()).toBe(false);
    engine.clock.set('2026-04-01T01:00:00.000Z');
  }

  const statuses = async (): Promise<Readonly<Record<string, number>>> => {
    const rows = await engine.database.query<{ status: string; count: number }>(
      'SELECT status, count(*)::int FROM invoice GROUP BY status',
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  };

  /** Asserts the events of the invoices, numbers without a gap, and the ledger. */
  async function assertWhole(invoices: number): Promise<void> {
    const numbers = await engine.database.query<{ number: number }>(
      'SELECT right(number, 6)::int AS number FROM invoice ORDER BY number',
    );
    expect(numbers.map(({ number }) => number)).toEqual(
      Array.from({ length: invoices }, (_, index) => index + 1),
    );
    const recorded = await engine.database.query<{ types: string; count: number }>(
      `SELECT types, count(*)::int FROM (
         SELECT string_agg(type, ' ' ORDER BY sequence) AS types FROM event
         WHERE type LIKE 'invoice.%' GROUP BY object_id) AS recorded
       GROUP BY types`,
    );
    expect(recorded).toEqual([{ types: 'invoice.created invoice.finalized', count: invoices }]);
    expect((await engine.http.get('/v1/ledger/verify')).body).toMatchObject({ ok: true });
  }

  it('are finalized once each by two concurrent workers', async () => {
    await renewMany(MANY);
    const other = await startTestApp({ databaseUrl: engine.databaseUrl });
    try {
      other.clock.set(engine.clock.now().toISOString());
      const runAll = async ({ app }: TestApp): Promise<void> => {
        while (await app.get(DueDrafts).runDue());
      };
      await Promise.all([runAll(engine), runAll(other)]);
    } finally {
      await other.close();
    }
    expect(await statuses()).toEqual({ open: 2 * MANY });
    await assertWhole(2 * MANY);
  });

  it('are finalized by others after the lease of a dead worker has ended', async () => {
    await renewMany(3);
    const now = engine.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_OVER_MS);
    const claimed = await engine.app.get(DueRowsRepository).claim(DUE_DRAFTS, now, leaseEndsAt, 2);
    expect(claimed).toHaveLength(2);
    const due = engine.app.get(DueDrafts);
    expect(await due.runDue()).toBe(true);
    expect(await due.runDue()).toBe(false);
    expect(await statuses()).toEqual({ draft: 2, open: 4 });
    engine.clock.advanceMs(LEASE_OVER_MS);
    expect(await due.runDue()).toBe(true);
    // The worker that seemed dead continues with what it had claimed, which is done already.
    await engine.app.get(FinalizeDueDraftsWorkflow).finalizeDue(claimed, engine.clock.now());
    expect(await statuses()).toEqual({ open: 6 });
    await assertWhole(6);
  });

  it(
    'are finalized once each, however often a worker is killed',
    async () => {
      await renewMany(MANY);
      // After the commit of the first batch, and within the second.
      for (const statements of [36, 16]) {
        const now = engine.clock.now().getTime();
        expect(await runRenewals(engine.databaseUrl, now, statements)).toBe('SIGKILL');
        engine.clock.advanceMs(LEASE_OVER_MS);
        await untilOthersRest(engine.database);
        expect(await statuses()).toEqual({ draft: 10, open: 2 * MANY - 10 });
      }
      expect(await engine.app.get(DueDrafts).runDue()).toBe(true);
      expect(await statuses()).toEqual({ open: 2 * MANY });
      await assertWhole(2 * MANY);
    },
    KILLING_LIMIT_MS,
  );

  it('are finalized once each by a worker and by concurrent requests', async () => {
    await renewMany(5);
    const drafts = await engine.database.query<{ id: string }>(
      `SELECT id FROM invoice WHERE status = 'draft'`,
    );
    const [, ...answers] = await Promise.all([
      engine.app.get(DueDrafts).runDue(),
      ...drafts.map(({ id }) => engine.http.post(`/v1/invoices/${id}/finalize`)),
    ]);
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(await statuses()).toEqual({ open: 10 });
    await assertWhole(10);
  });

  it('are finalized except for one that fails, which is retried after its lease ends', async () => {
    await renewMany(3);
    const [poisoned] = await engine.database.query<{ id: string }>(
      `SELECT id FROM invoice WHERE status = 'draft' ORDER BY id OFFSET 1 LIMIT 1`,
    );
    await engine.database.query(
      `ALTER TABLE invoice ADD CONSTRAINT stays_draft CHECK (id <> '${poisoned?.id}' OR status = 'draft') NOT VALID`,
    );
    const due = engine.app.get(DueDrafts);
    expect(await due.runDue()).toBe(true);
    expect(await due.runDue()).toBe(false);
    expect(await statuses()).toEqual({ draft: 1, open: 5 });
    await engine.database.query('ALTER TABLE invoice DROP CONSTRAINT stays_draft');
    engine.clock.advanceMs(LEASE_OVER_MS);
    expect(await due.runDue()).toBe(true);
    await assertWhole(6);
  });

  it.each([
    ['finalized first', 1, '2026-03-08T00:10:00.000Z'],
    ['created and finalized first', 720, null],
    ['finalized at once', 48, null],
  ])('are %s and then credited by an end that was applied late', async (_, hours, renewedAt) => {
    const plan = { code: 'flat', name: 'Plan', currency: 'USD', interval: 'week' };
    const plan_id = await create('plans', { ...plan, prices: [{ ...base, amount: 700 }] });
    const customer_id = await create('customers', { name: 'Ada', invoice_grace_hours: hours });
    const id = await create('subscriptions', { customer_id, plan_id });
    const end = { when: 'at', at: '2026-03-10T00:00:00.000Z', credit_unused: true };
    await engine.http.post(`/v1/subscriptions/${id}/cancel`).send(end).expect(200);
    const renewing = engine.app.get(DueSubscriptions);
    const finalizing = engine.app.get(DueDrafts);
    if (renewedAt !== null) {
      engine.clock.set(renewedAt);
      while (await renewing.runDue());
    }
    // No worker ran until after the period that was cut short.
    for (const now of ['2026-03-20T00:00:00.000Z', '2026-05-01T00:00:00.000Z']) {
      engine.clock.set(now);
      while (await finalizing.runDue());
      while (await renewing.runDue());
    }
    const invoices = await engine.database.query<{ reason: string; total: number }>(
      `SELECT reason, total::int FROM invoice WHERE status <> 'draft' ORDER BY number`,
    );
    expect(invoices).toEqual([
      { reason: 'subscription_start', total: 700 },
      { reason: 'renewal', total: 700 },
      { reason: 'end', total: -400 },
    ]);
    const deferred = `SELECT sum(amount_minor)::int AS sum FROM ledger_posting WHERE account = 'deferred_revenue'`;
    expect(await engine.database.query(deferred)).toEqual([{ sum: 0 }]);
    expect((await engine.http.get('/v1/ledger/verify')).body).toMatchObject({ ok: true });
  });

  it('are finalized at once for a customer without a grace period', async () => {
    const plan = { code: 'flat', name: 'Plan', currency: 'USD', interval: 'month', prices: [base] };
    const plan_id = await create('plans', plan);
    const customer_id = await create('customers', { name: 'Ada', invoice_grace_hours: 0 });
    await create('subscriptions', { customer_id, plan_id });
    engine.clock.set(BOUNDARY);
    await engine.app.get(DueSubscriptions).runDue();
    expect(await statuses()).toEqual({ open: 2 });
  });
});
