import { CollectInvoicesWorkflow } from '../../src/modules/billing/payments/collect-invoices.workflow';
import { DueCollections } from '../../src/modules/billing/payments/due-collections';
import { DuePayments } from '../../src/modules/billing/payments/due-payments';
import { overlap } from '../support/frozen-work';
import { type Invoice, post, startTestApp, Story, type TestApp } from '../support/story';
import { eventsOf } from '../support/test-app';

const START = '2026-03-01T00:00:00.000Z';

describe('automatic collection', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const typesOf = async (id: string): Promise<readonly string[]> =>
    (await eventsOf(engine, id)).map(({ type }) => type.replace(/^[a-z]+\./, ''));

  /** Adds a payment method to the customer, which becomes the default. */
  async function addCard(story: Story, token: string): Promise<string> {
    const { status, body } = await engine.http
      .post(`/v1/customers/${story.customerId}/payment-methods`)
      .send({ provider: 'sandbox', token, is_default: true });
    expect(status).toBe(201);
    return (body as { id: string }).id;
  }

  const invoiceOf = async (story: Story, index = 0): Promise<Invoice> => {
    const invoice = (await story.invoices())[index];
    if (invoice === undefined) throw new Error(`There is no invoice ${index}.`);
    return invoice;
  };
  const send = (id: string, command: string, body: object = {}) =>
    engine.http.post(`/v1/invoices/${id}/${command}`).send(body);

  interface Attempt {
    readonly id: string;
    readonly status: string;
    readonly amount: number;
    readonly collection_attempt: number | null;
    readonly created_at: string;
  }

  /** Returns the payments of an invoice, oldest first. */
  async function attemptsAt(invoiceId: string): Promise<readonly Attempt[]> {
    const { body } = await engine.http.get('/v1/payments').query({ invoice_id: invoiceId });
    return [...(body as { data: readonly Attempt[] }).data].reverse();
  }
  const days = (attempts: readonly Attempt[]): readonly string[] =>
    attempts.map(({ created_at }) => created_at.slice(0, 10));

  /** Subscribes a customer to 10.00 a month, with a card of the given behaviour. */
  async function subscriber(
    token: string | null,
    fields: Readonly<Record<string, unknown>> = {},
    plan: Readonly<Record<string, unknown>> = {},
  ) {
    const story = await Story.begin(engine, START);
    if (token !== null) await addCard(story, token);
    const { id } = await story.subscribe(await story.plan(1_000, plan), fields);
    return { story, id, status: async () => (await story.subscription(id)).status };
  }

  it('charges each invoice at once to a working card', async () => {
    const { story, id, status } = await subscriber('pm_sandbox_ok');
    await story.advance('2026-05-01T00:00:00.000Z');
    const invoices = await story.invoices();
    expect(invoices.map((one) => one.status)).toEqual(['paid', 'paid', 'paid']);
    for (const invoice of invoices) {
      expect(invoice).toMatchObject({ attempt_count: 1, next_attempt_at: null, overdue_at: null });
      expect(await typesOf(invoice.id)).toEqual(['created', 'finalized', 'updated', 'paid']);
      expect(await attemptsAt(invoice.id)).toMatchObject([
        { collection_attempt: 1, status: 'succeeded', amount: 1_000 },
      ]);
    }
    expect(await status()).toBe('active');
    expect(await typesOf(id)).toEqual(['created', 'activated', 'renewed', 'renewed']);
    await story.verify();
  });

  it('retries after a failure, and succeeds with another card', async () => {
    const { story, id, status } = await subscriber('pm_sandbox_declined');
    await story.advance('2026-03-01T00:00:00.000Z');
    expect(await status()).toBe('past_due');
    const { id: invoiceId } = await invoiceOf(story);
    expect(await invoiceOf(story)).toMatchObject({
      status: 'open',
      attempt_count: 1,
      next_attempt_at: '2026-03-02T00:00:00.000Z',
    });
    await story.advance('2026-03-07T00:00:00.000Z');
    expect(days(await attemptsAt(invoiceId))).toEqual(['2026-03-01', '2026-03-02', '2026-03-05']);
    await addCard(story, 'pm_sandbox_ok');
    await story.advance('2026-03-07T00:00:00.000Z');
    expect(await invoiceOf(story)).toMatchObject({ status: 'paid', attempt_count: 4 });
    expect(await status()).toBe('active');
    expect(await typesOf(id)).toEqual(['created', 'activated', 'past_due', 'activated']);
    expect(await typesOf(invoiceId)).toEqual([
      'created',
      'finalized',
      'updated',
      'payment_failed',
      'overdue',
      'updated',
      'payment_failed',
      'updated',
      'payment_failed',
      'updated', // The new card is charged at once.
      'updated',
      'paid',
    ]);
    await story.advance('2026-04-01T00:00:00.000Z');
    expect(await invoiceOf(story, 1)).toMatchObject({ status: 'paid', attempt_count: 1 });
    await story.verify();
  });

  it('stops after the last retry: the subscription is unpaid, continues, and the card is not charged again', async () => {
    const { story, id, status } = await subscriber('pm_sandbox_insufficient_funds');
    await story.advance('2026-03-16T23:59:59.999Z');
    expect(await status()).toBe('past_due');
    await story.advance('2026-03-17T00:00:00.000Z');
    expect(await status()).toBe('unpaid');
    const first = await invoiceOf(story);
    expect(first).toMatchObject({ status: 'open', attempt_count: 5, next_attempt_at: null });
    expect(days(await attemptsAt(first.id))).toEqual([
      '2026-03-01',
      '2026-03-02',
      '2026-03-05',
      '2026-03-10',
      '2026-03-17',
    ]);
    await story.advance('2026-05-15T00:00:00.000Z');
    const later = await story.invoices();
    expect(later.map((one) => one.status)).toEqual(['open', 'open', 'open']);
    expect(await attemptsAt(later[2]?.id ?? '')).toEqual([]);
    expect(await typesOf(id)).toEqual([
      'created',
      'activated',
      'past_due',
      'updated',
      'renewed',
      'renewed',
    ]);
    expect(await typesOf(later[2]?.id ?? '')).toEqual(['created', 'finalized', 'overdue']);
    await story.verify();

    // Another card pays all open invoices.
    await addCard(story, 'pm_sandbox_ok');
    expect(await status()).toBe('past_due');
    await story.advance('2026-05-15T00:00:00.000Z');
    expect((await story.invoices()).map((one) => one.status)).toEqual(['paid', 'paid', 'paid']);
    expect(await status()).toBe('active');
    await story.verify();
  });

  it('given up, with another card that also fails, leaves the subscription unpaid', async () => {
    const { story, status } = await subscriber('pm_sandbox_declined');
    await story.advance('2026-03-20T00:00:00.000Z');
    await addCard(story, 'pm_sandbox_insufficient_funds');
    expect(await status()).toBe('past_due');
    await story.advance('2026-03-25T00:00:00.000Z');
    expect(await status()).toBe('unpaid');
    expect(await invoiceOf(story)).toMatchObject({ attempt_count: 6, next_attempt_at: null });
    await story.verify();
  });

  it('given up for many invoices charges all of them with another card, although the first one fails', async () => {
    const { story, status } = await subscriber('pm_sandbox_declined', {}, { interval: 'day' });
    const now = '2026-03-24T12:00:00.000Z';
    await story.advance(now);
    expect(await status()).toBe('unpaid');
    await addCard(story, 'pm_sandbox_insufficient_funds');
    await story.advance(now);
    const { body } = await engine.http
      .get('/v1/payments')
      .query({ customer_id: story.customerId, limit: 100, created_from: now });
    const charged = (body as { data: { invoice_id: string }[] }).data;
    const invoices = await story.invoices();
    expect(invoices).toHaveLength(24);
    expect(charged.map(({ invoice_id }) => invoice_id).sort()).toEqual(
      invoices.map(({ id }) => id).sort(),
    );
    expect(await status()).toBe('unpaid');

    // A later invoice of the unpaid subscription is not charged.
    await story.advance('2026-03-25T12:00:00.000Z');
    expect(await invoiceOf(story, 24)).toMatchObject({ attempt_count: 0, next_attempt_at: null });
    await story.verify();
  });

  it.each(['past_due', 'unpaid'])(
    '%s and paid manually makes the subscription active again',
    async (expected) => {
      const { story, status } = await subscriber('pm_sandbox_declined');
      await story.advance(
        expected === 'unpaid' ? '2026-03-20T00:00:00.000Z' : '2026-03-02T12:00:00.000Z',
      );
      expect(await status()).toBe(expected);
      const { id } = await invoiceOf(story);
      expect((await send(id, 'pay', { provider: 'manual' })).body).toMatchObject({
        status: 'succeeded',
        collection_attempt: null,
      });
      expect(await invoiceOf(story)).toMatchObject({ status: 'paid', next_attempt_at: null });
      expect(await status()).toBe('active');
      await story.advance('2026-03-25T00:00:00.000Z');
      expect(await attemptsAt(id)).toHaveLength(expected === 'unpaid' ? 6 : 3);
      await story.verify();
    },
  );

  it('for two unpaid periods makes the subscription active only after both are paid', async () => {
    const { story, status } = await subscriber('pm_sandbox_declined');
    await story.advance('2026-04-01T00:00:00.000Z');
    expect(await status()).toBe('unpaid');
    const [first, second] = await story.invoices();
    await send(first?.id ?? '', 'pay', { provider: 'manual' }).expect(201);
    expect(await status()).toBe('unpaid');
    await send(second?.id ?? '', 'pay', { provider: 'manual' }).expect(201);
    expect(await status()).toBe('active');
    await story.verify();
  });

  it.each(['void', 'credit note'])(
    'makes a past-due subscription active again after a %s',
    async (by) => {
      const { story, status } = await subscriber('pm_sandbox_declined');
      await story.advance('2026-03-03T00:00:00.000Z');
      const invoice = await invoiceOf(story);
      if (by === 'void') await send(invoice.id, 'void').expect(200);
      else {
        await engine.http
          .post('/v1/credit-notes')
          .send({
            invoice_id: invoice.id,
            lines: [{ invoice_line_id: invoice.lines[0]?.id, amount: 1_000 }],
            reason: 'Sorry',
            settle: 'credit',
          })
          .expect(201);
      }
      await story.advance('2026-03-03T00:00:00.000Z');
      expect(await status()).toBe('active');
      await story.advance('2026-03-20T00:00:00.000Z');
      expect(await attemptsAt(invoice.id)).toHaveLength(2);
      await story.verify();
    },
  );

  it('charges a regenerated invoice like a new one', async () => {
    const { story, status } = await subscriber('pm_sandbox_declined');
    await story.advance('2026-03-03T00:00:00.000Z');
    const { id } = await invoiceOf(story);
    await send(id, 'void').expect(200);
    await addCard(story, 'pm_sandbox_ok');
    const { body } = await send(id, 'reissue').expect(201);
    expect(body).toMatchObject({ status: 'open', attempt_count: 0, overdue_at: null });
    await story.advance('2026-03-03T00:00:00.000Z');
    expect(await invoiceOf(story, 1)).toMatchObject({ status: 'paid', attempt_count: 1 });
    expect(await status()).toBe('active');
    await story.verify();
  });

  it.each(['past_due', 'unpaid'])(
    'does not charge a written-off invoice, and a subscription that was %s owes nothing',
    async (expected) => {
      const { story, id: subscriptionId, status } = await subscriber('pm_sandbox_declined');
      await story.advance(
        expected === 'unpaid' ? '2026-03-20T00:00:00.000Z' : '2026-03-03T00:00:00.000Z',
      );
      expect(await status()).toBe(expected);
      const { id } = await invoiceOf(story);
      const attempts = await attemptsAt(id);
      const { body } = await send(id, 'mark-uncollectible').expect(200);
      expect(body).toMatchObject({ status: 'uncollectible', next_attempt_at: null });
      await story.advance('2026-03-20T00:00:00.000Z');
      expect(await status()).toBe('active');
      await story.advance('2026-03-25T00:00:00.000Z');
      expect(await attemptsAt(id)).toHaveLength(attempts.length);
      const types = await typesOf(subscriptionId);
      expect(types.filter((type) => type === 'activated')).toHaveLength(2);
      await send(id, 'pay', { provider: 'manual' }).expect(201);
      expect(await status()).toBe('active');
      expect(await typesOf(subscriptionId)).toEqual(types);
      await story.verify();
    },
  );

  describe('of two failed invoices', () => {
    const CLOSE: Readonly<Record<string, (invoice: Invoice) => PromiseLike<unknown>>> = {
      'is paid': ({ id }) => send(id, 'pay', { provider: 'manual' }).expect(201),
      'is void': ({ id }) => send(id, 'void').expect(200),
      'is written off': ({ id }) => send(id, 'mark-uncollectible').expect(200),
      'is credited': ({ id, lines }) =>
        engine.http
          .post('/v1/credit-notes')
          .send({
            invoice_id: id,
            lines: [{ invoice_line_id: lines[0]?.id, amount: 1_000 }],
            reason: 'Sorry',
            settle: 'credit',
          })
          .expect(201),
    };
    const close = async (way: string, invoice: Invoice): Promise<void> => {
      await CLOSE[way]?.(invoice);
    };

    async function owingTwo() {
      const { story, status } = await subscriber(null);
      await story.advance('2026-04-01T00:00:00.000Z');
      await addCard(story, 'pm_sandbox_declined');
      await story.advance('2026-04-01T00:00:00.000Z');
      expect(await status()).toBe('past_due');
      return { story, status, invoices: [await invoiceOf(story), await invoiceOf(story, 1)] };
    }

    it.each([
      ['is written off', 'is paid'],
      ['is paid', 'is written off'],
      ['is written off', 'is void'],
      ['is void', 'is written off'],
      ['is written off', 'is credited'],
      ['is credited', 'is written off'],
      ['is written off', 'is written off'],
    ])('one %s and then one %s: only then the subscription is active', async (...ways) => {
      const { story, status, invoices } = await owingTwo();
      for (const [place, way] of ways.entries()) {
        expect(await status()).toBe('past_due');
        const invoice = invoices[place];
        if (invoice !== undefined) await close(way, invoice);
        await story.advance('2026-04-01T00:00:00.000Z');
      }
      expect(await status()).toBe('active');
      await story.verify();
    });

    it.each(Object.keys(CLOSE))(
      'one is written off while the other %s: the subscription is active',
      async (way) => {
        const { story, status, invoices } = await owingTwo();
        const [first, second] = invoices;
        if (first === undefined || second === undefined) throw new Error('Two invoices are open.');
        await Promise.all([close('is written off', first), close(way, second)]);
        await story.advance('2026-04-01T00:00:00.000Z');
        expect(await status()).toBe('active');
        await story.verify();
      },
    );
  });

  it('that fails after the write-off of its invoice changes no status', async () => {
    const { story, status } = await subscriber('pm_sandbox_pending');
    await story.advance('2026-03-01T00:00:00.000Z');
    const { id } = await invoiceOf(story);
    const [pending] = await attemptsAt(id);
    await send(id, 'mark-uncollectible').expect(200);
    await engine.http
      .post(`/v1/sandbox/payments/${pending?.id ?? ''}/settle`)
      .send({ outcome: 'failed' })
      .expect(200);
    await story.advance('2026-03-20T00:00:00.000Z');
    expect(await status()).toBe('active');
    expect(await attemptsAt(id)).toHaveLength(1);
    await story.verify();
  });

  it('continues for a subscription canceled while past due, which stays canceled', async () => {
    const { story, id, status } = await subscriber('pm_sandbox_declined');
    await story.advance('2026-03-01T00:00:00.000Z');
    await story.command(id, 'cancel', { when: 'now' });
    await story.advance('2026-03-02T00:00:00.000Z');
    expect(await invoiceOf(story)).toMatchObject({ status: 'open', attempt_count: 2 });
    await addCard(story, 'pm_sandbox_ok');
    await story.advance('2026-04-01T00:00:00.000Z');
    expect(await invoiceOf(story)).toMatchObject({ status: 'paid', attempt_count: 3 });
    expect(await status()).toBe('canceled');
    expect(await typesOf(id)).toEqual(['created', 'activated', 'past_due', 'canceled']);
    await story.verify();
  });

  it.each([
    ['2026-04-02T00:00:00.000Z', 'past_due'],
    ['2026-04-20T00:00:00.000Z', 'unpaid'],
    [null, 'active'],
  ])('that failed during a pause counts at the resume: %s, %s', async (resumedAt, expected) => {
    const { story, id, status } = await subscriber('pm_sandbox_pending');
    await story.advance('2026-03-01T00:00:00.000Z');
    await story.command(id, 'pause');
    const { id: invoiceId } = await invoiceOf(story);
    const [pending] = await attemptsAt(invoiceId);
    await addCard(story, 'pm_sandbox_declined');
    await story.advance('2026-04-01T00:00:00.000Z');
    await engine.http
      .post(`/v1/sandbox/payments/${pending?.id ?? ''}/settle`)
      .send({ outcome: resumedAt === null ? 'succeeded' : 'failed' })
      .expect(200);
    await story.advance(resumedAt ?? '2026-04-20T00:00:00.000Z');
    expect(await status()).toBe('paused');
    const renewed = await story.command(id, 'resume');
    expect(renewed).toMatchObject({ status: expected });
    await story.verify();
  });

  it('waits without a payment method, and charges once there is one', async () => {
    const { story, status } = await subscriber(null);
    await story.advance('2026-03-10T00:00:00.000Z');
    expect(await status()).toBe('active');
    const { id } = await invoiceOf(story);
    expect(await invoiceOf(story)).toMatchObject({
      status: 'open',
      attempt_count: 0,
      next_attempt_at: null,
      overdue_at: START,
    });
    expect(await typesOf(id)).toEqual(['created', 'finalized', 'overdue']);
    await addCard(story, 'pm_sandbox_ok');
    await story.advance('2026-03-10T00:00:00.000Z');
    expect(await invoiceOf(story)).toMatchObject({ status: 'paid', attempt_count: 1 });
    await story.verify();
  });

  it('that ends without a payment method says so in an event', async () => {
    const { story } = await subscriber('pm_sandbox_declined');
    await story.advance('2026-03-01T12:00:00.000Z');
    const { id } = await invoiceOf(story);
    const planned = '2026-03-02T00:00:00.000Z';
    const methods = `/v1/customers/${story.customerId}/payment-methods`;
    const { body } = await engine.http.get(methods);
    const [method] = (body as { data: { id: string }[] }).data;
    expect((await engine.http.delete(`${methods}/${method?.id ?? ''}`)).status).toBe(204);
    await story.advance('2026-03-03T00:00:00.000Z');
    expect(await invoiceOf(story)).toMatchObject({ attempt_count: 1, next_attempt_at: null });
    expect((await eventsOf(engine, id)).at(-1)).toMatchObject({
      type: 'invoice.updated',
      data: { object: { next_attempt_at: null }, previous: { next_attempt_at: planned } },
    });
  });

  it('does not charge a sent invoice, which becomes overdue once, when it is due', async () => {
    const { story, status } = await subscriber('pm_sandbox_ok', {
      collection: 'send_invoice',
      days_until_due: 14,
    });
    await story.advance('2026-03-14T23:59:59.999Z');
    const { id } = await invoiceOf(story);
    expect(await typesOf(id)).toEqual(['created', 'finalized']);
    await story.advance('2026-03-30T00:00:00.000Z');
    expect(await typesOf(id)).toEqual(['created', 'finalized', 'overdue']);
    expect(await invoiceOf(story)).toMatchObject({ overdue_at: '2026-03-15T00:00:00.000Z' });
    expect(await attemptsAt(id)).toEqual([]);
    expect(await status()).toBe('active');
    await send(id, 'pay').expect(201);
    await story.verify();
  });

  it('delays the next attempt while a payment is pending, and continues after its failure', async () => {
    const { story, status } = await subscriber('pm_sandbox_pending');
    await story.advance('2026-03-10T00:00:00.000Z');
    const { id } = await invoiceOf(story);
    const [pending] = await attemptsAt(id);
    expect(await attemptsAt(id)).toHaveLength(1);
    expect(await invoiceOf(story)).toMatchObject({ amount_pending: 1_000, overdue_at: null });
    await engine.http
      .post(`/v1/sandbox/payments/${pending?.id ?? ''}/settle`)
      .send({ outcome: 'failed' })
      .expect(200);
    expect(await status()).toBe('past_due');
    expect(await invoiceOf(story)).toMatchObject({ next_attempt_at: '2026-03-11T00:00:00.000Z' });
    await story.verify();
  });

  it('does not charge an invoice that is being paid manually, and does after that payment failed', async () => {
    const { story } = await subscriber('pm_sandbox_declined');
    await story.advance('2026-03-01T00:00:00.000Z');
    const { id } = await invoiceOf(story);
    const { body } = await send(id, 'pay', { payment_method_id: 'pm_sandbox_pending' });
    await story.advance('2026-03-10T00:00:00.000Z');
    expect(await attemptsAt(id)).toHaveLength(2);
    await engine.http
      .post(`/v1/sandbox/payments/${(body as { id: string }).id}/settle`)
      .send({ outcome: 'failed' })
      .expect(200);
    await story.advance('2026-03-10T00:00:00.000Z');
    expect((await attemptsAt(id)).map(({ collection_attempt: attempt }) => attempt)).toEqual([
      1,
      null,
      2,
    ]);
    await story.verify();
  });

  describe('on the real clock', () => {
    let own: TestApp;

    beforeAll(async () => {
      own = await startTestApp();
    });

    afterAll(() => own.close());

    it('charges an invoice once with eight concurrent workers', async () => {
      const others = await Promise.all(
        Array.from({ length: 3 }, () => startTestApp({ databaseUrl: own.databaseUrl })),
      );
      const customer = await own.http.post('/v1/customers').send({ name: 'Ada', currency: 'EUR' });
      const { id: customerId } = customer.body as { id: string };
      await own.http
        .post(`/v1/customers/${customerId}/payment-methods`)
        .send({ provider: 'sandbox', token: 'pm_sandbox_ok' })
        .expect(201);
      const ids: string[] = [];
      for (let made = 0; made < 12; made += 1) {
        const draft = await own.http
          .post('/v1/invoices')
          .send({ customer_id: customerId, lines: [{ description: 'Work', amount: 100 + made }] });
        const { id } = draft.body as { id: string };
        await own.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200);
        ids.push(id);
      }
      const workers = [own, ...others].map(({ app }) => app.get(DueCollections));
      for (let round = 0; round < 6; round += 1) {
        await Promise.all([...workers, ...workers].map((worker) => worker.runDue()));
        await Promise.all(workers.map((worker) => worker.idle()));
      }
      const [row] = await own.database.query(
        `SELECT count(*)::int AS charges, (SELECT count(*)::int FROM invoice WHERE status = 'paid') AS paid
         FROM sandbox_operation`,
      );
      expect(row).toEqual({ charges: 12, paid: 12 });
      const { body } = await own.http.get('/v1/ledger/verify');
      expect(body).toMatchObject({ ok: true });
      await Promise.all(others.map((other) => other.close()));
    });

    /** Creates a customer with a card, and an open invoice of 100. */
    async function openInvoice(token: string): Promise<{ id: string; customerId: string }> {
      const { id: customerId } = await post(own, '/v1/customers', { name: 'Ada', currency: 'EUR' });
      const path = `/v1/customers/${customerId}/payment-methods`;
      await post(own, path, { provider: 'sandbox', token });
      const lines = [{ description: 'Work', amount: 100 }];
      const { id } = await post(own, '/v1/invoices', { customer_id: customerId, lines });
      await post(own, `/v1/invoices/${id}/finalize`);
      return { id, customerId };
    }

    const read = async (id: string): Promise<object> =>
      (await own.http.get(`/v1/invoices/${id}`)).body as object;

    it('waits for a running deletion of the customer, and then charges nothing', async () => {
      const { id, customerId } = await openInvoice('pm_sandbox_ok');
      const collections = own.app.get(DueCollections);
      const remove = () => own.http.delete(`/v1/customers/${customerId}`).expect(204).then();
      await overlap(own, 'INSERT OR UPDATE ON customer_access', [
        remove,
        () => collections.runDue().finally(() => collections.idle()),
      ]);
      const expected = { status: 'open', attempt_count: 0, amount_pending: 0 };
      expect(await read(id)).toMatchObject({ ...expected, next_attempt_at: null });
      const { body } = await own.http.get(`/v1/payments?invoice_id=${id}`);
      expect(body).toMatchObject({ data: [] });
    });

    it('started by a process that died is finished with the due payments, once', async () => {
      const { id } = await openInvoice('pm_sandbox_declined');
      const begun = await own.app.get(CollectInvoicesWorkflow).begin(null, own.clock.now(), 5);
      expect(begun).toMatchObject({ examined: 1, payments: [{ collectionAttempt: 1 }] });
      const collections = own.app.get(DueCollections);
      await collections.runDue();
      await collections.idle();
      expect(await read(id)).toMatchObject({ attempt_count: 1, amount_pending: 100 });
      own.clock.advanceMs(150_000);
      const payments = own.app.get(DuePayments);
      await payments.runDue();
      await payments.idle();
      expect(await read(id)).toMatchObject({
        status: 'open',
        attempt_count: 1,
        amount_pending: 0,
        next_attempt_at: new Date(own.clock.now().getTime() + 86_400_000).toISOString(),
      });
    });
  });
});
