import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { DueDrafts } from '../../src/modules/billing/invoices/due-drafts';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { UsageStore } from '../../src/modules/metering';
import { MetersService } from '../../src/modules/meters';
import { untilSessionsWait } from '../support/lock-waits';
import type { Invoice } from '../support/story';
import { startTestApp, type TestApp } from '../support/test-app';

/** Not at an hour, so that billing periods have edges within hours. */
const START = '2026-02-10T10:20:00.000Z';
const CALL = 'call';

interface Archived {
  readonly month: string;
  readonly events: number;
  readonly digest: string;
  readonly files: readonly string[];
}

interface Proof {
  readonly accepted: number;
  readonly billed: number;
  readonly digest: string;
  readonly archived: readonly Archived[];
}

interface WithArchived {
  readonly data: readonly { readonly idempotency_key: string }[];
  readonly matches: boolean;
  readonly archived: readonly Archived[];
}

/** A customer in real time who pays for calls each month, with usage in each month. */
describe('bills of archived usage', () => {
  let engine: TestApp;
  let directory: string;
  let customerId: string;
  let meterId: string;
  let planId: string;
  let subscriptionId: string;
  let made = 0;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'usage-archive-'));
    engine = await startTestApp({
      environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory },
    });
    engine.clock.set(START);
    customerId = await create('/v1/customers', { name: 'Ada' });
    meterId = await meter();
    planId = await plan({ timing: 'in_arrears', meter_id: meterId });
    subscriptionId = await create('/v1/subscriptions', subscribed());
  });

  afterEach(async () => {
    await engine.close();
    await rm(directory, { recursive: true });
  });

  async function create(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(path).send(body);
    expect({ path, ...answer.body, status: answer.status }).toMatchObject({ status: 201 });
    return (answer.body as { id: string }).id;
  }

  function meter(): Promise<string> {
    made += 1;
    return create('/v1/meters', { key: `calls-${made}`, event_name: CALL, aggregation: 'count' });
  }

  function plan(price: object, months = 1): Promise<string> {
    made += 1;
    return create('/v1/plans', {
      code: `calls-${made}`,
      name: 'Calls',
      currency: 'USD',
      interval: 'month',
      interval_count: months,
      prices: [{ name: 'Calls', model: 'per_unit', unit_amount: '100', ...price }],
    });
  }

  const subscribed = (fields: object = {}) => ({
    customer_id: customerId,
    plan_id: planId,
    collection: 'send_invoice',
    ...fields,
  });

  const get = async <Body>(path: string, query: object = {}): Promise<Body> => {
    const { status, body } = await engine.http.get(path).query(query);
    expect({ path, status, body: status === 200 ? {} : body }).toEqual({
      path,
      status: 200,
      body: {},
    });
    return body as Body;
  };

  const report = (key: string, timestamp: string) =>
    engine.http
      .post('/v1/usage-events')
      .send({ idempotency_key: key, customer_id: customerId, event_name: CALL, timestamp });

  /** Goes on to an instant, with renewals, and with one call on the 5th and one on the 20th of each month. */
  async function goTo(end: string, archives = false): Promise<void> {
    while (engine.clock.now() < new Date(end)) {
      engine.clock.advanceMs(86_400_000);
      const now = engine.clock.now();
      const day = now.toISOString().slice(0, 10);
      if (!/-(01|02|05|11|20)$/.test(day)) continue;
      if (/-(05|20)$/.test(day)) await report(day, now.toISOString()).expect(200);
      while (await engine.app.get(DueSubscriptions).runDue()) continue;
      if (archives) while (await engine.app.get(DueUsageArchive).runDue()) continue;
    }
  }

  /** Runs works at once that wait for the stream of the customer, in this order. */
  async function inOrder(works: readonly (() => Promise<unknown>)[]): Promise<readonly unknown[]> {
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    const running: Promise<unknown>[] = [];
    try {
      await holder.query('BEGIN');
      const stream = 'SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE';
      expect((await holder.query(stream, [customerId])).rowCount).toBe(1);
      for (const [index, work] of works.entries()) {
        running.push(work());
        await untilSessionsWait(engine.database, index + 1);
      }
      await holder.query('ROLLBACK');
    } finally {
      await holder.end();
    }
    return Promise.all(running);
  }

  async function archive(): Promise<void> {
    for (let pass = 0; pass < 2; pass += 1) {
      engine.clock.advanceMs(86_400_000);
      while (await engine.app.get(DueUsageArchive).runDue()) continue;
    }
    engine.clock.advanceMs(20 * 60_000);
    while (await engine.app.get(DueUsageArchive).runDue()) continue;
  }

  const invoices = async (): Promise<readonly Invoice[]> => {
    const page = await get<{ data: readonly Invoice[] }>('/v1/invoices', {
      customer_id: customerId,
    });
    return page.data.toReversed().filter(({ lines }) => lines.length > 0);
  };

  const proof = (from: string, to: string): Promise<Proof> =>
    get(`/v1/meters/${meterId}/proof`, { customer_id: customerId, from, to });

  const archivedMonths = async (): Promise<readonly string[]> => {
    const page = await get<{ data: readonly Archived[] }>('/v1/usage-archive/months', {
      customer_id: customerId,
    });
    return page.data.map(({ month }) => month);
  };

  it('keep their explanation and amount, and tell where their events are', async () => {
    await goTo('2026-06-30T12:00:00Z');
    const february = await proof('2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z');
    expect(february).toMatchObject({ accepted: 1, billed: 1, archived: [] });
    const [first, second] = await invoices();
    expect(first).toMatchObject({ total: 200, lines: [{ quantity: '2' }] });
    const lineOf = (invoice: Invoice | undefined) =>
      `/v1/invoices/${invoice?.id ?? ''}/lines/${invoice?.lines[0]?.id ?? ''}`;
    const before = await get<WithArchived>(`${lineOf(first)}/events`);
    expect(before.data.map(({ idempotency_key: key }) => key)).toEqual([
      '2026-02-20',
      '2026-03-05',
    ]);
    expect(before.archived).toEqual([]);

    await archive();
    expect(await archivedMonths()).toEqual(['2026-02']);
    const after = await proof('2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z');
    const [file] = (
      await get<{ data: readonly { name: string; events: number; verified_at: string }[] }>(
        '/v1/usage-archive/files',
      )
    ).data;
    expect(file).toMatchObject({ events: 1, verified_at: expect.any(String) as string });
    const month = {
      customer_id: customerId,
      event_name: CALL,
      month: '2026-02',
      events: 1,
      voided: 0,
      digest: february.digest,
      files: [file?.name],
    };
    expect(after).toMatchObject({ accepted: 0, billed: 0, archived: [month] });
    const line = await get<WithArchived>(`${lineOf(first)}/events`);
    expect(line.data.map(({ idempotency_key: key }) => key)).toEqual(['2026-03-05']);
    expect(line.archived).toEqual([month]);
    expect(await get<WithArchived>(`${lineOf(first)}/explanation`)).toMatchObject({
      matches: true,
      archived: [month],
    });
    expect(await get<WithArchived>(`${lineOf(second)}/explanation`)).toMatchObject({
      archived: [],
    });
    const verified = await get<{ ok: boolean }>('/v1/ledger/verify');
    expect(verified.ok).toBe(true);
  });

  it('are not corrected any more, and those of stored usage are', async () => {
    await goTo('2026-06-30T12:00:00Z');
    await archive();
    // The first period has archived events until its end on 10 March.
    for (const at of ['2026-02-11T00:00:00Z', '2026-03-10T10:19:59Z']) {
      const { body } = await report(`late-${at}`, at).expect(422);
      expect(body).toMatchObject({ errors: [{ code: 'usage_archived', pointer: '/timestamp' }] });
    }
    await report('late', '2026-03-10T10:20:00Z').expect(200);
    for (const key of ['2026-02-20', '2026-03-05']) {
      const refused = await engine.http
        .post('/v1/usage-events/void')
        .send({ idempotency_key: key });
      expect(refused.body).toMatchObject({ status: 409, code: 'usage_event_archived' });
    }
    expect((await engine.http.get('/v1/usage-events/2026-02-20')).body).toMatchObject({
      status: 409,
      code: 'usage_event_archived',
    });
    await engine.http
      .post('/v1/usage-events/void')
      .send({ idempotency_key: '2026-03-20' })
      .expect(200);
    await goTo('2026-07-11T12:00:00Z');
    const last = (await invoices()).at(-1);
    // One event late and one voided: the second period is corrected by nothing.
    expect(last?.lines.map(({ quantity }) => quantity)).toEqual(['2']);
  });

  const command = (invoice: Invoice | undefined, name: string, key?: string) => {
    const request = engine.http.post(`/v1/invoices/${invoice?.id ?? ''}/${name}`);
    return key === undefined ? request : request.set('Idempotency-Key', key);
  };

  const verify = async () =>
    expect(await get<{ ok: boolean }>('/v1/ledger/verify')).toMatchObject({ ok: true });

  it('are not voided, because their usage could not be billed again: they are credited', async () => {
    await goTo('2026-03-10T12:00:00Z');
    await report('late', '2026-03-10T10:19:00Z').expect(200);
    await goTo('2026-06-30T12:00:00Z');
    const [first, second, third] = await invoices();
    expect(second?.lines.map(({ amount }) => amount)).toEqual([200, 100]);
    await archive();
    const refused = {
      status: 409,
      code: 'usage_archived',
      detail: expect.stringMatching(
        /^Events before 2026-03-10T10:20:00.000Z are closed for the archive.* cannot be voided.* Issue a credit note/,
      ) as unknown,
    };
    for (const invoice of [first, second]) {
      const answers = await Promise.all([
        command(invoice, 'void', `void-${invoice?.id ?? ''}`),
        command(invoice, 'void', `void-${invoice?.id ?? ''}`),
        command(invoice, 'void'),
      ]);
      for (const { body } of answers) expect(body).toMatchObject(refused);
      const { status, total, lines = [] } = invoice ?? {};
      expect(await get(`/v1/invoices/${invoice?.id ?? ''}`)).toMatchObject({ status, total });
      const note = {
        invoice_id: invoice?.id,
        lines: lines.map(({ id, amount }) => ({ invoice_line_id: id, amount })),
        reason: 'Not owed',
        settle: 'credit',
      };
      await create('/v1/credit-notes', note);
      const credited = { status: 'paid', amount_remaining: 0 };
      expect(await get(`/v1/invoices/${invoice?.id ?? ''}`)).toMatchObject(credited);
    }
    await command(third, 'void').expect(200);
    await command(third, 'reissue').expect(201);
    await verify();
  });

  it('are not voided either once they are written off, and can be paid', async () => {
    await goTo('2026-06-30T12:00:00Z');
    await archive();
    const [first] = await invoices();
    await command(first, 'mark-uncollectible').expect(200);
    expect((await command(first, 'void')).body).toMatchObject({
      code: 'usage_archived',
      detail: expect.stringContaining('It is written off already.') as unknown,
    });
    await command(first, 'pay').send({ provider: 'manual' }).expect(201);
    expect(await get(`/v1/invoices/${first?.id ?? ''}`)).toMatchObject({ status: 'paid' });
    await verify();
  });

  it('are not archived while a void correction waits for the next invoice', async () => {
    await goTo('2026-03-10T12:00:00Z');
    await report('late', '2026-03-10T10:19:00Z').expect(200);
    await goTo('2026-06-30T12:00:00Z');
    const [, second] = await invoices();
    await command(second, 'void').expect(200);
    await archive();
    expect(await archivedMonths()).toEqual([]);
    await goTo('2026-07-11T12:00:00Z');
    expect((await invoices()).at(-1)?.lines.map(({ amount }) => amount)).toEqual([200, 100]);
    await archive();
    expect(await archivedMonths()).toEqual(['2026-02']);
    await verify();
  });

  it('that were void before are not regenerated: the refusal says what to do', async () => {
    await goTo('2026-06-30T12:00:00Z');
    const [first] = await invoices();
    await command(first, 'void').expect(200);
    await archive();
    const { body } = await command(first, 'reissue');
    expect(body).toMatchObject({
      status: 409,
      code: 'usage_archived',
      detail: expect.stringMatching(/cannot be regenerated.* Create an invoice/) as unknown,
    });
    const [line] = first?.lines ?? [];
    expect(await get(`/v1/invoices/${first?.id ?? ''}`)).toMatchObject({
      status: 'void',
      lines: [{ quantity: line?.quantity, amount: line?.amount }],
    });
    await verify();
  });

  it('that were void before are regenerated without corrections that a later invoice billed', async () => {
    await goTo('2026-03-10T12:00:00Z');
    await report('late', '2026-03-10T10:19:00Z').expect(200);
    await goTo('2026-04-11T00:00:00Z');
    const [, second] = await invoices();
    expect(second?.lines.map(({ amount }) => amount)).toEqual([200, 100]);
    await command(second, 'void').expect(200);
    await goTo('2026-06-30T12:00:00Z');
    const third = (await invoices())[2];
    expect(third?.lines.map(({ amount }) => amount)).toEqual([200, 100]);
    await archive();
    expect(await archivedMonths()).toEqual(['2026-02']);
    const { body } = await command(second, 'reissue').expect(201);
    expect(body).toMatchObject({ total: 200, lines: [{ amount: 200 }], reissue_of: second?.id });
    // The correction is now billed by this invoice only.
    expect((await command(third, 'void')).body).toMatchObject({ code: 'usage_archived' });
    await command(body as Invoice, 'void').expect(200);
    await command(body as Invoice, 'reissue').expect(201);
    await goTo('2026-07-11T12:00:00Z');
    const inEffect = (await invoices()).filter(({ status }) => status !== 'void');
    expect(inEffect.map(({ total }) => total).sort()).toEqual([200, 200, 200, 200, 300]);
    await verify();
  });

  it('that were void before are overtaken if a later invoice billed all of their usage', async () => {
    await goTo('2026-03-10T12:00:00Z');
    const [first] = await invoices();
    await command(first, 'void').expect(200);
    await report('late', '2026-03-10T10:19:00Z').expect(200);
    await goTo('2026-06-30T12:00:00Z');
    expect((await invoices())[1]?.lines.map(({ amount }) => amount)).toEqual([200, 300]);
    await archive();
    expect(await archivedMonths()).toEqual(['2026-02']);
    expect((await command(first, 'reissue')).body).toMatchObject({ code: 'invoice_overtaken' });
    await verify();
  });

  it.each(['void', 'archive'])(
    'are voided before their month is archived or not at all, if both wait for a stream, the %s first',
    async (first) => {
      await goTo('2026-06-30T12:00:00Z');
      const [invoice] = await invoices();
      const answer = command(invoice, 'void');
      const works = {
        void: async () => (await answer).status,
        archive: async () => {
          engine.clock.advanceMs(86_400_000);
          while (await engine.app.get(DueUsageArchive).runDue()) continue;
          return archivedMonths();
        },
      };
      const order = first === 'archive' ? ['archive', 'void'] : ['void', 'archive'];
      const [one, other] = await inOrder(order.map((name) => works[name as keyof typeof works]));
      expect([one, other]).toEqual(first === 'archive' ? [['2026-02'], 409] : [200, ['2026-02']]);
      await verify();
    },
  );

  it('are made from stored events: an open period keeps its month', async () => {
    await goTo('2026-03-12T00:00:00Z');
    await engine.http.post(`/v1/subscriptions/${subscriptionId}/pause`).send({}).expect(200);
    engine.clock.set('2026-09-01T00:00:00Z');
    await archive();
    const months = await archivedMonths();
    expect(months).toEqual(['2026-02']);
  });

  it.each(['running', 'canceled'])(
    'are made after the grace of a %s subscription',
    async (state) => {
      customerId = await create('/v1/customers', { name: 'Ben', invoice_grace_hours: 720 });
      planId = await plan({ timing: 'in_arrears', meter_id: meterId }, 3);
      const id = await create('/v1/subscriptions', subscribed());
      if (state === 'canceled') {
        const end = { when: 'period_end' };
        await engine.http.post(`/v1/subscriptions/${id}/cancel`).send(end).expect(200);
      }
      // The first period ended on 10 May, and its draft waits until 9 June. February is older than the retention.
      await goTo('2026-06-03T00:00:00Z', true);
      await archive();
      expect(await archivedMonths()).toEqual([]);
      engine.clock.set('2026-06-10T00:00:00Z');
      while (await engine.app.get(DueDrafts).runDue()) continue;
      expect(await invoices()).toMatchObject([
        { status: 'open', total: 600, lines: [{ quantity: '6' }] },
      ]);
      await goTo('2026-09-02T00:00:00Z');
      await archive();
      expect(await archivedMonths()).toContain('2026-02');
    },
  );

  it('are not begun: a subscription with metered prices starts after the archived months', async () => {
    await goTo('2026-06-30T12:00:00Z');
    await archive();
    const later = await plan({ timing: 'in_arrears', meter_id: await meter() });
    const refused = {
      status: 409,
      code: 'usage_archived',
      detail: expect.stringContaining('2026-03-01T00:00:00.000Z') as string,
    };
    const before = { start_at: '2026-02-28T23:59:59.999Z' };
    for (const id of [planId, later]) {
      for (const path of ['/v1/subscriptions', '/v1/subscriptions?preview=true']) {
        const body = subscribed({ plan_id: id, ...before });
        expect((await engine.http.post(path).send(body)).body).toMatchObject(refused);
      }
    }
    const list = await get<{ data: readonly object[] }>('/v1/subscriptions', {
      customer_id: customerId,
    });
    expect(list.data).toHaveLength(1);
    const after = subscribed({ start_at: '2026-03-01T00:00:00Z' });
    await engine.http.post('/v1/subscriptions?preview=true').send(after).expect(200);
    await create('/v1/subscriptions', after);
    const flat = await plan({ timing: 'in_advance' });
    await create('/v1/subscriptions', subscribed({ plan_id: flat, ...before }));
    customerId = await create('/v1/customers', { name: 'Ben' });
    await create('/v1/subscriptions', subscribed(before));
  });

  it.each(['subscription', 'archive'])(
    'have all events, if a subscription that starts in the past and the archive wait for a stream, the %s first',
    async (first) => {
      customerId = await create('/v1/customers', { name: 'Ben' });
      await report('b1', '2026-02-10T00:00:00Z').expect(200);
      engine.clock.set('2026-06-01T00:00:00Z');
      const subscription = engine.http
        .post('/v1/subscriptions')
        .send(subscribed({ start_at: '2026-02-09T00:00:00Z' }));
      const works = {
        subscription: async () => (await subscription).status,
        archive: async () => {
          while (await engine.app.get(DueUsageArchive).runDue()) continue;
          return archivedMonths();
        },
      };
      const order = first === 'archive' ? ['archive', 'subscription'] : ['subscription', 'archive'];
      const [one, other] = await inOrder(order.map((name) => works[name as keyof typeof works]));
      expect([one, other]).toEqual(first === 'archive' ? [['2026-02'], 409] : [201, []]);
    },
  );

  it('stay readable by whole hours, and a new meter counts the stored events', async () => {
    await goTo('2026-06-30T12:00:00Z');
    await archive();
    const query = { customer_id: customerId, from: '2026-02-01T00:00:00Z' };
    const usage = `/v1/meters/${meterId}/usage`;
    const whole = { ...query, to: '2026-07-01T00:00:00Z' };
    expect(await get(usage, whole)).toMatchObject({ total: '9' });
    // No call was made in the first hour of this period; one was in the last.
    expect(await get(usage, { ...whole, from: '2026-02-01T00:30:00Z' })).toMatchObject({
      total: '9',
    });
    const cut = { ...query, to: '2026-02-20T10:30:00Z' };
    expect((await engine.http.get(usage).query(cut)).body).toMatchObject({
      status: 409,
      code: 'usage_archived',
    });
    const { from, to } = cut;
    const top = await engine.http.get(`/v1/meters/${meterId}/customers`).query({ from, to });
    expect(top.body).toMatchObject({ status: 409, code: 'usage_archived' });
    const later = await meter();
    expect(await get(`/v1/meters/${later}`)).toMatchObject({
      counted_from: '2026-03-01T00:00:00.000Z',
    });
    expect(await get(`/v1/meters/${meterId}`)).toMatchObject({ counted_from: null });
    expect(await get(`/v1/meters/${later}/usage`, whole)).toMatchObject({ total: '8' });
    const { body } = await engine.http.get(`/v1/meters/${later}/usage`).query(cut);
    expect(body).toMatchObject({ status: 409, code: 'usage_archived' });
  });

  it('are not read up to an earlier position, because a void since then hides deleted events', async () => {
    customerId = await create('/v1/customers', { name: 'Ben' });
    await report('b1', '2026-02-10T00:00:00Z').expect(200);
    const voided = { idempotency_key: 'b1' };
    await engine.http.post('/v1/usage-events/void').send(voided).expect(200);
    engine.clock.set('2026-06-01T00:00:00Z');
    await archive();
    const reading = engine.app.get(UsageStore).aggregate({
      customerId,
      meter: await engine.app.get(MetersService).get(meterId),
      period: {
        startAt: new Date('2026-02-01T00:00:00Z'),
        endAt: new Date('2026-03-01T00:00:00Z'),
      },
      upToPosition: 1n,
    });
    await expect(reading).rejects.toThrow('usage_archived');
  });

  it('are archived while the subscription runs, if the values of its meter carry over from any age', async () => {
    const seats = {
      key: 'seats',
      event_name: 'seat',
      aggregation: 'weighted_sum',
      value_property: 'n',
    };
    const meter_id = await create('/v1/meters', { ...seats, is_recurring: true });
    const plan_id = await plan({ timing: 'in_arrears', meter_id });
    await create('/v1/subscriptions', subscribed({ plan_id }));
    const event = { idempotency_key: 'seat', customer_id: customerId, event_name: 'seat' };
    const seat = { ...event, timestamp: START, properties: { n: 3 } };
    await engine.http.post('/v1/usage-events').send(seat).expect(200);
    await goTo('2026-06-30T12:00:00Z');
    await archive();
    expect(await archivedMonths()).toEqual(['2026-02', '2026-02']);
    await goTo('2026-07-12T00:00:00Z');
    expect((await invoices()).at(-1)).toMatchObject({ total: 300 });
  });

  it('are not billed by a new meter that carries values over, even if their month is being written', async () => {
    await goTo('2026-06-30T12:00:00Z');
    const recurring = (event_name = CALL) => ({
      key: `held-${event_name}`,
      event_name,
      aggregation: 'weighted_sum',
      value_property: 'n',
      is_recurring: true,
    });
    const refused = {
      status: 409,
      code: 'usage_archived',
      detail: expect.stringContaining('with another event name') as unknown,
    };
    const answer = engine.http.post('/v1/meters').send(recurring());
    const worker = new Client({ connectionString: engine.databaseUrl });
    await worker.connect();
    try {
      // As a step of the archive that writes the first file.
      await worker.query('BEGIN');
      await worker.query('SELECT FROM usage_archive_progress FOR UPDATE');
      await worker.query(
        `INSERT INTO usage_archive_month (stream_id, start_at, end_at, first_file, last_file, events, voided, digest, written_at)
         SELECT id, '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', 1, 1, 1, 0, repeat('0', 64), now() FROM usage_stream`,
      );
      const created = answer.then(({ body }) => body as object);
      await untilSessionsWait(engine.database);
      await worker.query('COMMIT');
      expect(await created).toMatchObject(refused);
    } finally {
      await worker.end();
    }
    await create('/v1/meters', recurring('other'));
    await create('/v1/meters', { ...recurring(), is_recurring: false });
  });

  it('stop to grow at constant business', async () => {
    await goTo('2027-02-03T00:00:00Z', true);
    const [row] = await engine.database.query<{ events: number; oldest: Date }>(
      'SELECT count(*)::int AS events, min(occurred_at) AS oldest FROM usage_event',
    );
    // At most three whole months, the current one and one that a billing period needs.
    expect(row?.events).toBeLessThanOrEqual(10);
    expect(row?.oldest.toISOString().slice(0, 7)).toBe('2026-10');
    expect((await invoices()).map(({ total }) => total)).toEqual(
      Array.from({ length: 11 }, () => 200),
    );
  });
});
