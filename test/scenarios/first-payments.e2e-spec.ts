import { startTestApp, Story, type Invoice, type TestApp } from '../support/story';
import { eventsOf } from '../support/test-app';

const START = '2026-03-01T00:00:00.000Z';
const BEFORE_EXPIRY = '2026-03-01T22:59:59.999Z';
const EXPIRY = '2026-03-01T23:00:00.000Z';
const LATER = '2026-03-03T12:00:00.000Z';
const END = '2026-04-01T00:00:00.000Z';

const WAITS = { payment_behavior: 'default_incomplete' };

describe('an incomplete subscription', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const typesOf = async (id: string): Promise<readonly string[]> =>
    (await eventsOf(engine, id)).map(({ type }) => type.replace(/^[a-z]+\./, ''));
  const send = (id: string, command: string, body: object = {}) =>
    engine.http.post(`/v1/invoices/${id}/${command}`).send(body);
  const settle = (paymentId: string, outcome: 'succeeded' | 'failed') =>
    engine.http.post(`/v1/sandbox/payments/${paymentId}/settle`).send({ outcome }).expect(200);

  async function addCard(story: Story, token: string): Promise<void> {
    await engine.http
      .post(`/v1/customers/${story.customerId}/payment-methods`)
      .send({ provider: 'sandbox', token, is_default: true })
      .expect(201);
  }

  async function first(story: Story): Promise<Invoice> {
    const [invoice] = await story.invoices();
    if (invoice === undefined) throw new Error('There is no invoice.');
    return invoice;
  }

  interface Payment {
    readonly id: string;
    readonly status: string;
    readonly created_at: string;
  }

  /** Returns the payments of an invoice, oldest first. */
  async function paymentsOf(invoiceId: string): Promise<readonly Payment[]> {
    const { body } = await engine.http.get('/v1/payments').query({ invoice_id: invoiceId });
    return [...(body as { data: readonly Payment[] }).data].reverse();
  }

  /** Creates an incomplete subscription of 10.00 a month, with a card of the given behaviour, or none. */
  async function subscriber(token: string | null, fields: Readonly<Record<string, unknown>> = {}) {
    const story = await Story.begin(engine, START);
    if (token !== null) await addCard(story, token);
    const created = await story.subscribe(await story.plan(1_000), { ...WAITS, ...fields });
    const { id } = created;
    const status = async (): Promise<string> => (await story.subscription(id)).status;
    return { story, id, created, status };
  }

  /** Asserts that the ledger holds, and that the last event of the subscription shows its current status. */
  async function verify(story: Story, id: string): Promise<void> {
    const events = await eventsOf(engine, id);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)?.data.object).toEqual(await story.subscription(id));
    for (const invoice of await story.invoices()) {
      const last = (await eventsOf(engine, invoice.id)).at(-1)?.data.object;
      expect(last).toMatchObject({ status: invoice.status });
    }
    await story.verify();
  }

  it('bills its first period, and becomes active in the commit of the payment', async () => {
    const { story, id, created } = await subscriber(null);
    expect(created).toMatchObject({
      status: 'incomplete',
      payment_behavior: 'default_incomplete',
      incomplete_expires_at: EXPIRY,
      next_billing_at: EXPIRY,
      current_period_start: START,
      current_period_end: END,
    });
    const invoice = await first(story);
    expect(invoice).toMatchObject({ status: 'open', amount_due: 1_000 });
    await send(invoice.id, 'pay', { provider: 'manual' }).expect(201);
    expect(await story.subscription(id)).toMatchObject({
      status: 'active',
      incomplete_expires_at: null,
      next_billing_at: END,
      current_period_end: END,
    });
    expect(await typesOf(id)).toEqual(['created', 'updated', 'activated']);
    await story.advance(END);
    expect((await story.invoices()).map(({ period_start }) => period_start)).toEqual([START, END]);
    expect(await typesOf(id)).toEqual(['created', 'updated', 'activated', 'renewed']);
    await verify(story, id);
  });

  it('is charged automatically to a default method, at once', async () => {
    const { story, id, status } = await subscriber('pm_sandbox_ok');
    expect(await status()).toBe('incomplete');
    await story.advance(START);
    expect(await status()).toBe('active');
    await verify(story, id);
  });

  it('expires after 23 hours without a payment: its invoice is void and not charged any more', async () => {
    const { story, id, status } = await subscriber('pm_sandbox_declined');
    await story.advance(BEFORE_EXPIRY);
    expect(await status()).toBe('incomplete');
    const { id: invoiceId } = await first(story);
    expect(await first(story)).toMatchObject({
      status: 'open',
      attempt_count: 1,
      next_attempt_at: null,
    });
    await story.advance(EXPIRY);
    expect(await story.subscription(id)).toMatchObject({
      status: 'incomplete_expired',
      incomplete_expires_at: null,
      next_billing_at: null,
      ended_at: EXPIRY,
      canceled_at: null,
      current_period_end: EXPIRY,
    });
    await addCard(story, 'pm_sandbox_ok');
    await story.advance('2026-05-01T00:00:00.000Z');
    expect((await story.invoices()).map((one) => one.status)).toEqual(['void']);
    expect(await paymentsOf(invoiceId)).toHaveLength(1);
    expect(await typesOf(id)).toEqual(['created', 'updated', 'expired']);
    const types = ['created', 'finalized', 'updated', 'payment_failed', 'overdue', 'voided'];
    expect(await typesOf(invoiceId)).toEqual(types);
    for (const command of ['cancel', 'pause', 'resume', 'change'] as const) {
      const body = command === 'cancel' || command === 'change' ? { when: 'now' } : {};
      await engine.http.post(`/v1/subscriptions/${id}/${command}`).send(body).expect(409);
    }
    await verify(story, id);
  });

  it('stays incomplete while attempts fail, and becomes active with another card', async () => {
    const { story, id, status } = await subscriber('pm_sandbox_declined');
    await story.advance('2026-03-01T01:00:00.000Z');
    expect(await status()).toBe('incomplete');
    await addCard(story, 'pm_sandbox_insufficient_funds');
    await story.advance('2026-03-01T02:00:00.000Z');
    expect(await first(story)).toMatchObject({ attempt_count: 2, next_attempt_at: null });
    expect(await status()).toBe('incomplete');
    await addCard(story, 'pm_sandbox_ok');
    await story.advance('2026-03-01T02:00:00.000Z');
    expect(await status()).toBe('active');
    await story.advance('2026-05-01T00:00:00.000Z');
    expect((await story.invoices()).map((one) => one.status)).toEqual(['paid', 'paid', 'paid']);
    await verify(story, id);
  });

  describe('grants no entitlements', () => {
    async function access(story: Story, key: string): Promise<unknown> {
      const path = `/v1/customers/${story.customerId}/entitlements/${key}`;
      return ((await engine.http.get(path)).body as { has_access: unknown }).has_access;
    }

    it.each([true, false])('until it is paid: %s', async (isPaid) => {
      const story = await Story.begin(engine, START);
      const key = `feature-${story.clockId.slice(-8)}`;
      const entitlement = await engine.http
        .post('/v1/entitlements')
        .send({ key, name: 'A feature', type: 'boolean' });
      const plan = await story.plan(1_000, {
        entitlements: [{ entitlement_id: (entitlement.body as { id: string }).id }],
      });
      const { id } = await story.subscribe(plan, WAITS);
      expect(await access(story, key)).toBe(false);
      if (isPaid) await send((await first(story)).id, 'pay', { provider: 'sandbox' }).expect(201);
      else await story.advance(EXPIRY);
      expect(await access(story, key)).toBe(isPaid);
      await verify(story, id);
    });
  });

  it('counts usage from its start, and bills it with the period after the payment', async () => {
    const story = await Story.begin(engine, START);
    const { id: meterId, event } = await story.meter();
    const { id: planId } = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 },
      {
        name: 'Calls',
        model: 'per_unit',
        timing: 'in_arrears',
        unit_amount: '10',
        meter_id: meterId,
      },
    ]);
    const paid = await story.subscribe(planId, WAITS);
    await story.advance('2026-03-01T06:00:00.000Z');
    await story.reportUsage(event, '2026-03-01T05:00:00.000Z', { n: 7 });
    await send((await first(story)).id, 'pay', { provider: 'sandbox' }).expect(201);
    await story.advance(END);
    expect(await story.amounts()).toEqual([[1_000], [1_000, 70]]);
    await verify(story, paid.id);
  });

  it('bills no usage if it expires', async () => {
    const story = await Story.begin(engine, START);
    const { id: meterId, event } = await story.meter();
    const { id: planId } = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 },
      {
        name: 'Calls',
        model: 'per_unit',
        timing: 'in_arrears',
        unit_amount: '10',
        meter_id: meterId,
      },
    ]);
    const { id } = await story.subscribe(planId, WAITS);
    await story.advance('2026-03-01T06:00:00.000Z');
    await story.reportUsage(event, '2026-03-01T05:00:00.000Z', { n: 7 });
    await story.advance(END);
    expect(await story.amounts()).toEqual([[1_000]]);
    expect(await first(story)).toMatchObject({ status: 'void' });
    expect(await story.usage()).toEqual([]);
    await verify(story, id);
  });

  describe('with nothing to pay', () => {
    it.each([
      ['a free plan', 0, {}, 'active', ['created', 'activated']],
      ['a trial', 1_000, { trial_days: 14 }, 'trialing', ['created', 'updated']],
    ])('is active at once: %s', async (_, amount, fields, expected, events) => {
      const story = await Story.begin(engine, START);
      const { id, status } = await story.subscribe(await story.plan(amount), {
        ...WAITS,
        ...fields,
      });
      expect(status).toBe(expected);
      expect(await story.subscription(id)).toMatchObject({ incomplete_expires_at: null });
      expect(await typesOf(id)).toEqual(events);
      await story.advance('2026-03-20T00:00:00.000Z');
      expect((await story.subscription(id)).status).toBe('active');
      await verify(story, id);
    });

    it('in advance is active at once', async () => {
      const story = await Story.begin(engine, START);
      const { id: planId } = await story.planOf([
        { name: 'Support', model: 'flat', timing: 'in_arrears', amount: 500 },
      ]);
      const { id, status, next_billing_at } = await story.subscribe(planId, WAITS);
      expect({ status, next_billing_at }).toEqual({ status: 'active', next_billing_at: END });
      expect(await story.invoices()).toEqual([]);
      await verify(story, id);
    });

    it('after a coupon of 100 % is active at once', async () => {
      const story = await Story.begin(engine, START);
      const code = `ALL-${story.clockId.slice(-8)}`;
      await engine.http
        .post('/v1/coupons')
        .send({ code, type: 'percent', percent_off: '100', duration: 'once' })
        .expect(201);
      const { id, status } = await story.subscribe(await story.plan(1_000), {
        ...WAITS,
        coupon: code,
      });
      expect(status).toBe('active');
      expect(await first(story)).toMatchObject({ status: 'paid', amount_due: 0 });
      await story.advance('2026-03-10T00:00:00.000Z');
      expect(await story.subscription(id)).toMatchObject({
        status: 'active',
        next_billing_at: END,
      });
      await verify(story, id);
    });

    it('after credit is active at once; credit for a part returns when it expires', async () => {
      const story = await Story.begin(engine, START);
      // Crediting a paid invoice gives the credit that the next invoices consume.
      const draft = await engine.http.post('/v1/invoices').send({
        customer_id: story.customerId,
        currency: 'USD',
        lines: [{ description: 'Work', amount: 1_400 }],
      });
      const { id: workId } = draft.body as { id: string };
      const finalized = await send(workId, 'finalize').expect(200);
      const { lines } = finalized.body as Invoice;
      await send(workId, 'pay', { provider: 'manual' }).expect(201);
      await engine.http
        .post('/v1/credit-notes')
        .send({
          invoice_id: workId,
          lines: [{ invoice_line_id: lines[0]?.id, amount: 1_400 }],
          reason: 'Sorry',
          settle: 'credit',
        })
        .expect(201);
      const plan = await story.plan(1_000);
      const one = await story.subscribe(plan, WAITS);
      const other = await story.subscribe(plan, WAITS);
      expect([one.status, other.status]).toEqual(['active', 'incomplete']);
      const [, whole, part] = await story.invoices();
      expect(whole).toMatchObject({ status: 'paid', credit_applied: 1_000, amount_due: 0 });
      expect(part).toMatchObject({ status: 'open', credit_applied: 400, amount_due: 600 });
      await story.advance(EXPIRY);
      const third = await story.subscribe(plan, WAITS);
      expect((await story.invoices())[3]).toMatchObject({ credit_applied: 400, amount_due: 600 });
      await verify(story, one.id);
      await verify(story, other.id);
      await verify(story, third.id);
    });
  });

  describe('while it waits', () => {
    it('cannot be changed, paused, resumed or scheduled to end, and its invoice cannot be regenerated', async () => {
      const { story, id, status } = await subscriber(null);
      const refused = async (command: string, body: object, code: string): Promise<void> => {
        for (const path of [command, `${command}?preview=true`]) {
          const answer = await engine.http.post(`/v1/subscriptions/${id}/${path}`).send(body);
          expect([path, answer.status, (answer.body as { code: string }).code]).toEqual([
            path,
            409,
            code,
          ]);
        }
      };
      await refused('change', { quantity: '2', when: 'now' }, 'subscription_not_running');
      await refused('change', { quantity: '2', when: 'period_end' }, 'subscription_not_running');
      await refused('pause', {}, 'invalid_transition');
      await refused('resume', {}, 'invalid_transition');
      await refused('uncancel', {}, 'subscription_not_canceling');
      await refused('cancel', { when: 'period_end' }, 'subscription_not_running');
      await refused('cancel', { when: 'at', at: LATER }, 'subscription_not_running');
      await send((await first(story)).id, 'reissue').expect(409);
      expect(await status()).toBe('incomplete');
      await verify(story, id);
    });

    it('is canceled together with its invoice, and its time is not billed', async () => {
      const { story, id } = await subscriber(null);
      await story.advance('2026-03-01T12:00:00.000Z');
      const { body: preview } = await engine.http
        .post(`/v1/subscriptions/${id}/cancel?preview=true`)
        .send({ when: 'now' });
      expect(preview).toMatchObject({ total: 0, lines: [] });
      const canceled = await story.command(id, 'cancel', { when: 'now', credit_unused: true });
      expect(canceled).toMatchObject({
        status: 'canceled',
        incomplete_expires_at: null,
        next_billing_at: null,
      });
      await story.advance(LATER);
      expect((await story.invoices()).map((one) => one.status)).toEqual(['void']);
      expect(await typesOf(id)).toEqual(['created', 'updated', 'canceled']);
      await send((await first(story)).id, 'pay', { provider: 'sandbox' }).expect(409);
      await verify(story, id);
    });

    it('expires in the commit of the void of its invoice, which cannot be written off', async () => {
      const { story, id } = await subscriber(null);
      await story.advance('2026-03-01T12:00:00.000Z');
      const { id: invoiceId } = await first(story);
      const refused = await send(invoiceId, 'mark-uncollectible');
      expect([refused.status, refused.body]).toMatchObject([409, { code: 'invoice_not_owed' }]);
      expect((await send(invoiceId, 'void')).body).toMatchObject({ status: 'void' });
      expect(await story.subscription(id)).toMatchObject({
        status: 'incomplete_expired',
        ended_at: '2026-03-01T12:00:00.000Z',
      });
      await story.advance(LATER);
      expect(await first(story)).toMatchObject({ status: 'void' });
      await send(invoiceId, 'mark-uncollectible').expect(409);
      await send(invoiceId, 'reissue').expect(409);
      expect(await typesOf(id)).toEqual(['created', 'updated', 'expired']);
      await verify(story, id);
    });

    it('becomes active in the commit of a credit note for the whole invoice', async () => {
      const { story, id, status } = await subscriber(null);
      const { id: invoice_id, lines } = await first(story);
      const body = (amount: number) => ({
        invoice_id,
        lines: [{ invoice_line_id: lines[0]?.id, amount }],
        reason: 'A gift',
        settle: 'credit',
      });
      await engine.http.post('/v1/credit-notes').send(body(400)).expect(201);
      expect(await status()).toBe('incomplete');
      await engine.http.post('/v1/credit-notes').send(body(600)).expect(201);
      expect(await status()).toBe('active');
      await story.advance(END);
      expect(await typesOf(id)).toEqual(['created', 'updated', 'activated', 'renewed']);
      await verify(story, id);
    });

    it('takes a coupon for later invoices', async () => {
      const { story, id } = await subscriber(null);
      const code = `HALF-${story.clockId.slice(-8)}`;
      await engine.http
        .post('/v1/coupons')
        .send({ code, type: 'percent', percent_off: '50', duration: 'forever' })
        .expect(201);
      await story.command(id, 'coupons', { code });
      await send((await first(story)).id, 'pay', { provider: 'sandbox' }).expect(201);
      await story.advance(END);
      expect((await story.invoices()).map(({ total }) => total)).toEqual([1_000, 500]);
      await verify(story, id);
    });

    it('of a deleted customer expires as well', async () => {
      const { story, id } = await subscriber(null);
      await engine.http.delete(`/v1/customers/${story.customerId}`).expect(204);
      await story.advance(EXPIRY);
      expect((await story.subscription(id)).status).toBe('incomplete_expired');
      expect(await first(story)).toMatchObject({ status: 'void' });
      await verify(story, id);
    });
  });

  describe('paid in parts', () => {
    const pay = (story: Story, invoice_id: string, amount: number, by?: string) =>
      engine.http
        .post('/v1/payments')
        .send({
          customer_id: story.customerId,
          invoice_id,
          amount,
          currency: 'USD',
          ...(by === undefined ? { provider: 'manual' } : { payment_method_id: by }),
        })
        .expect(201);

    it('becomes active with the last part', async () => {
      const { story, id, status } = await subscriber(null);
      const { id: invoiceId } = await first(story);
      await pay(story, invoiceId, 400);
      expect(await status()).toBe('incomplete');
      await pay(story, invoiceId, 600);
      expect(await status()).toBe('active');
      await verify(story, id);
    });

    const refund = (paymentId: string, amount?: number) =>
      engine.http.post(`/v1/refunds/payment/${paymentId}`).send({ amount }).expect(201);

    it.each([
      ['expiry', 0],
      ['expiry', 150],
      ['expiry', 400],
      ['cancel', 150],
    ])('and not in full by its %s leaves the customer credit, less %i', async (end, before) => {
      const { story, id, status } = await subscriber(null);
      const { id: invoiceId } = await first(story);
      await pay(story, invoiceId, 400);
      const [paid] = await paymentsOf(invoiceId);
      const paymentId = paid?.id ?? '';
      if (before > 0) await refund(paymentId, before);
      expect((await send(invoiceId, 'void')).body).toMatchObject({ code: 'invoice_partly_paid' });
      if (end === 'cancel') await story.command(id, 'cancel', { when: 'now' });
      else await story.advance(EXPIRY);
      expect(await status()).toBe(end === 'cancel' ? 'canceled' : 'incomplete_expired');
      expect(await first(story)).toMatchObject({ status: 'void', amount_paid: 0 });
      const [left] = await paymentsOf(invoiceId);
      expect(left).toMatchObject({ amount: 400, amount_applied: 0, amount_refunded: before });
      expect((await eventsOf(engine, paymentId)).at(-1)).toMatchObject({
        type: 'payment.updated',
        data: { object: { amount_applied: 0 }, previous: { amount_applied: 400 } },
      });
      await verify(story, id);
      if (before < 400) await refund(paymentId);
      await verify(story, id);
    });

    it.each([
      ['succeeded', 300, 'void', [400, 300]],
      ['failed', 300, 'void', [400, 300]],
      ['succeeded', 600, 'paid', [400, 600]],
    ] as const)(
      'with a last part that %s late (%i) is paid in full or becomes credit',
      async (outcome, amount, expected, amounts) => {
        const { story, id, status } = await subscriber(null);
        const { id: invoiceId } = await first(story);
        await pay(story, invoiceId, 400);
        const { body } = await pay(story, invoiceId, amount, 'pm_sandbox_pending');
        await story.advance(LATER);
        expect(await status()).toBe('incomplete');
        await settle((body as { id: string }).id, outcome);
        expect(await status()).toBe(expected === 'paid' ? 'active' : 'incomplete_expired');
        expect(await first(story)).toMatchObject({ status: expected, amount_pending: 0 });
        const payments = await paymentsOf(invoiceId);
        expect(payments).toMatchObject(
          amounts.map((one) => ({ amount: one, amount_applied: expected === 'paid' ? one : 0 })),
        );
        await verify(story, id);
      },
    );

    it('and credited in part owes nothing when it expires', async () => {
      const { story, id, status } = await subscriber(null);
      const { id: invoice_id, lines } = await first(story);
      await pay(story, invoice_id, 400);
      await engine.http
        .post('/v1/credit-notes')
        .send({
          invoice_id,
          lines: [{ invoice_line_id: lines[0]?.id, amount: 250 }],
          reason: 'A gift',
          settle: 'credit',
        })
        .expect(201);
      await story.advance(EXPIRY);
      expect(await status()).toBe('incomplete_expired');
      expect(await first(story)).toMatchObject({
        status: 'paid',
        amount_paid: 0,
        amount_remaining: 0,
      });
      const [left] = await paymentsOf(invoice_id);
      expect(left).toMatchObject({ amount: 400, amount_applied: 0 });
      await verify(story, id);
    });
  });

  describe('with a payment in flight at its expiry', () => {
    it.each([
      ['succeeded', 'active', 'paid', 'activated'],
      ['failed', 'incomplete_expired', 'void', 'expired'],
    ] as const)('waits for the outcome: %s', async (outcome, expected, invoiced, events) => {
      const { story, id, status } = await subscriber('pm_sandbox_pending');
      await story.advance(LATER);
      expect(await story.subscription(id)).toMatchObject({
        status: 'incomplete',
        incomplete_expires_at: EXPIRY,
        next_billing_at: null,
      });
      const { id: invoiceId } = await first(story);
      const [pending] = await paymentsOf(invoiceId);
      await settle(pending?.id ?? '', outcome);
      expect(await status()).toBe(expected);
      expect(await first(story)).toMatchObject({ status: invoiced, amount_pending: 0 });
      expect(await typesOf(id)).toEqual(['created', 'updated', 'updated', events]);
      await story.advance('2026-05-01T00:00:00.000Z');
      expect(await story.invoices()).toHaveLength(outcome === 'failed' ? 1 : 3);
      expect(await paymentsOf(invoiceId)).toHaveLength(1);
      await verify(story, id);
    });

    it('becomes active even after its first period, and bills the periods since', async () => {
      const { story, id, status } = await subscriber('pm_sandbox_pending');
      await story.advance('2026-04-10T00:00:00.000Z');
      expect(await story.invoices()).toHaveLength(1);
      const [pending] = await paymentsOf((await first(story)).id);
      await settle(pending?.id ?? '', 'succeeded');
      await story.advance('2026-04-10T00:00:00.000Z');
      expect(await status()).toBe('active');
      expect((await story.invoices()).map(({ period_start }) => period_start)).toEqual([
        START,
        END,
      ]);
      await verify(story, id);
    });

    it('and canceled manually keeps late money as credit', async () => {
      const { story, id, status } = await subscriber('pm_sandbox_pending');
      await story.advance('2026-03-01T01:00:00.000Z');
      const { id: invoiceId } = await first(story);
      const [pending] = await paymentsOf(invoiceId);
      await story.command(id, 'cancel', { when: 'now' });
      await settle(pending?.id ?? '', 'succeeded');
      expect(await status()).toBe('canceled');
      expect(await first(story)).toMatchObject({ status: 'void', amount_pending: 0 });
      const [late] = await paymentsOf(invoiceId);
      expect(late).toMatchObject({ status: 'succeeded', amount: 1_000, amount_applied: 0 });
      await verify(story, id);
    });
  });

  it('with a start in the future waits for the start first, without incomplete_expires_at', async () => {
    const { story, id, created } = await subscriber('pm_sandbox_declined', { start_at: LATER });
    expect(created).toMatchObject({
      status: 'incomplete',
      incomplete_expires_at: null,
      current_period_start: null,
      next_billing_at: LATER,
    });
    await story.advance(LATER);
    expect(await story.subscription(id)).toMatchObject({
      status: 'incomplete',
      incomplete_expires_at: '2026-03-04T11:00:00.000Z',
      current_period_start: LATER,
    });
    await story.advance('2026-03-10T00:00:00.000Z');
    expect((await story.subscription(id)).status).toBe('incomplete_expired');
    await verify(story, id);
  });

  it('with a start in the past bills the first period alone, and the others once it is paid', async () => {
    const { story, id, created } = await subscriber(null, { start_at: '2026-01-10T00:00:00.000Z' });
    expect(created).toMatchObject({ status: 'incomplete', incomplete_expires_at: EXPIRY });
    expect(await story.starts()).toEqual(['2026-01-10T00:00:00.000Z']);
    await send((await first(story)).id, 'pay', { provider: 'sandbox' }).expect(201);
    await story.advance(START);
    expect(await story.starts()).toEqual(['2026-01-10T00:00:00.000Z', '2026-02-10T00:00:00.000Z']);
    expect((await story.subscription(id)).next_billing_at).toBe('2026-03-10T00:00:00.000Z');
    await verify(story, id);
  });

  it.each([true, false])('has no grace period for its first invoice: %s', async (isPaid) => {
    const story = await Story.begin(engine, START, { invoice_grace_hours: 48 });
    const { id } = await story.subscribe(await story.plan(1_000), WAITS);
    const invoice = await first(story);
    expect(invoice).toMatchObject({ status: 'open' });
    if (isPaid) await send(invoice.id, 'pay', { provider: 'sandbox' }).expect(201);
    await story.advance(END);
    expect((await story.subscription(id)).status).toBe(isPaid ? 'active' : 'incomplete_expired');
    expect((await story.invoices()).map(({ status }) => status)).toEqual(
      isPaid ? ['paid', 'draft'] : ['void'],
    );
    await verify(story, id);
  });

  it('with a short first period in another zone is not renewed before it is paid', async () => {
    // Half past ten in the evening in Auckland, where the month ends in an hour and a half.
    const story = await Story.begin(engine, '2026-03-31T09:30:00.000Z', {
      timezone: 'Pacific/Auckland',
    });
    const { id } = await story.subscribe(await story.plan(3_100), {
      ...WAITS,
      billing_anchor: 'calendar',
    });
    expect(await story.subscription(id)).toMatchObject({
      status: 'incomplete',
      current_period_end: '2026-03-31T11:00:00.000Z',
      incomplete_expires_at: '2026-04-01T08:30:00.000Z',
    });
    await story.advance('2026-04-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[100]]);
    await send((await first(story)).id, 'pay', { provider: 'sandbox' }).expect(201);
    await story.advance('2026-04-01T00:00:00.000Z');
    expect(await story.amounts()).toEqual([[100], [3_100]]);
    await verify(story, id);
  });
});
