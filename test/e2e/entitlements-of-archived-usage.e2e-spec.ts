import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { EntitlementWindows } from '../../src/modules/entitlements/entitlement-windows';
import { Allowances, createEntitlement } from '../support/allowances';
import { disableLockTimeout, untilSessionsWait } from '../support/lock-waits';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

/** Not at an hour, so that a window that begins here needs single events. */
const START = '2026-02-10T10:30:00.000Z';
/** The three whole months before are kept. */
const ARCHIVED_AT = '2026-06-01T00:00:00Z';
/** Events are removed from 15 minutes after they were archived on. */
const REMOVED_AT = '2026-06-01T00:20:00Z';
const CALL = 'call';
const REFUSED = {
  status: 409,
  code: 'usage_archived',
  detail: expect.stringContaining(`since ${START}, within such an hour`) as unknown,
};

type Reset = 'period' | 'month' | 'year' | 'never';

describe('an entitlement that counts archived usage', () => {
  let engine: TestApp;
  let directory: string;
  let customerId: string;
  let entitlement: { readonly id: string; readonly key: string };
  let made = 0;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'usage-archive-'));
    engine = await startTestApp({
      environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory },
    });
    engine.clock.set(START);
    customerId = await create('/v1/customers', { name: 'Ada' });
    await meter({ aggregation: 'sum' });
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

  /** Creates a meter of the calls, and the entitlement that the plans of the test give. */
  async function meter(fields: object): Promise<void> {
    made += 1;
    const body = { key: `calls-${made}`, event_name: CALL, value_property: 'n', ...fields };
    entitlement = await createEntitlement(engine, { meter_id: await create('/v1/meters', body) });
  }

  function plan(reset: Reset, months = 1, value = '100'): Promise<string> {
    made += 1;
    return create('/v1/plans', {
      code: `plan-${made}`,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      interval_count: months,
      prices: [{ name: 'Plan', model: 'flat', amount: 100, timing: 'in_advance' }],
      entitlements: [{ entitlement_id: entitlement.id, value, reset }],
    });
  }

  const subscribed = (planId: string, fields: object = {}) => ({
    customer_id: customerId,
    plan_id: planId,
    collection: 'send_invoice',
    ...fields,
  });

  const subscribe = (planId: string, fields: object = {}): Promise<string> =>
    create('/v1/subscriptions', subscribed(planId, fields));

  const change = (id: string, planId: string, fields: object = { when: 'now' }, query = '') =>
    engine.http.post(`/v1/subscriptions/${id}/change${query}`).send({ plan_id: planId, ...fields });

  /** Reports usage at an instant; later events may be reported at once, too. */
  async function report(...events: readonly (readonly [timestamp: string, n: number])[]) {
    for (const [timestamp, n] of events) {
      made += 1;
      await engine.http
        .post('/v1/usage-events')
        .send({
          idempotency_key: `event-${made}`,
          customer_id: customerId,
          event_name: CALL,
          timestamp,
          properties: { n },
        })
        .expect(200);
    }
    return `event-${made}`;
  }

  const used = async (key = entitlement.key): Promise<string> => {
    const { body } = await engine.http
      .get(`/v1/customers/${customerId}/entitlements/${key}`)
      .expect(200);
    return (body as { used: string }).used;
  };

  async function archiveAt(now: string): Promise<void> {
    engine.clock.set(now);
    while (await engine.app.get(DueSubscriptions).runDue()) continue;
    while (await engine.app.get(DueUsageArchive).runDue()) continue;
  }

  async function archive(): Promise<void> {
    await archiveAt(ARCHIVED_AT);
    await archiveAt(REMOVED_AT);
  }

  const removeNext = () => engine.app.get(DueUsageArchive).runDue();

  const stored = async (): Promise<readonly string[]> => {
    const rows = await engine.database.query<{ at: Date }>(
      'SELECT occurred_at AS at FROM usage_event ORDER BY 1',
    );
    return rows.map(({ at }) => at.toISOString().slice(0, 16));
  };

  /** Reports usage before and after the start, in later months and now, so that all usage since the start is 15. */
  async function reportAll(): Promise<void> {
    engine.clock.set('2026-02-11T00:00:00Z');
    await report(['2026-02-10T10:20:00Z', 1], ['2026-02-10T10:40:00Z', 5]);
    await report(['2026-02-10T12:00:00Z', 7], ['2026-02-09T10:40:00Z', 100]);
    engine.clock.set('2026-04-10T00:00:00Z');
    await report(['2026-04-10T00:00:00Z', 1]);
  }

  /** Removes the events of February, as the previous release did. */
  const removeAll = () =>
    engine.database.query(`DELETE FROM usage_event WHERE occurred_at < '2026-03-01T00:00:00Z'`);

  it('counts all usage since the start of the subscription, also within its first hour', async () => {
    const [monthly, endless] = [await plan('month'), await plan('never')];
    const id = await subscribe(monthly);
    await reportAll();
    await archive();
    await report([REMOVED_AT, 2]);
    expect(await stored()).toEqual([
      '2026-02-10T10:20',
      '2026-02-10T10:40',
      '2026-04-10T00:00',
      '2026-06-01T00:20',
    ]);
    expect(await used()).toBe('2');
    await change(id, endless, { when: 'now' }, '?preview=true').expect(200);
    await change(id, endless).expect(200);
    expect(await used()).toBe('15');
    // A void subtracts its event from the window.
    const key = await report([REMOVED_AT, 3]);
    expect(await used()).toBe('18');
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key }).expect(200);
    expect(await used()).toBe('15');
    await change(id, monthly).expect(200);
    expect(await used()).toBe('2');
    await change(id, endless).expect(200);
    expect(await used()).toBe('15');
  });

  it.each([
    ['count', 4, { value_property: null }],
    ['max', 7, {}],
    ['unique', 4, {}],
    ['latest', 2, {}],
    // With what was held at the start, also from the same hour. The window has parts before each value.
    ['weighted_sum', 116, { is_recurring: true }],
  ])('counts a %s since the start of the subscription', async (aggregation, expected, fields) => {
    await meter({ aggregation, ...fields });
    const [monthly, endless] = [await plan('month'), await plan('never')];
    const id = await subscribe(monthly);
    await reportAll();
    await archive();
    await report([REMOVED_AT, 2]);
    await change(id, endless).expect(200);
    expect(Number(await used())).toBeCloseTo(expected, 3);
  });

  it('counts a local year that begins within a UTC hour', async () => {
    engine.clock.set('2025-12-31T19:00:00Z');
    customerId = await create('/v1/customers', { name: 'Ben', timezone: 'Asia/Kolkata' });
    const [monthly, yearly] = [await plan('month'), await plan('year')];
    const id = await subscribe(monthly, { start_at: '2025-12-05T00:00:00Z' });
    await report(['2025-12-31T18:20:00Z', 50], ['2025-12-31T18:40:00Z', 5]);
    await report(['2025-12-31T19:00:00Z', 7], ['2025-12-30T00:00:00Z', 100]);
    await archive();
    expect(await stored()).toEqual(['2025-12-31T18:20', '2025-12-31T18:40']);
    await change(id, yearly).expect(200);
    expect(await used()).toBe('12');
  });

  it('is refused to a subscription whose first hour was removed, if it would count since then', async () => {
    const [monthly, endless] = [await plan('month'), await plan('never')];
    const id = await subscribe(monthly);
    await reportAll();
    await archive();
    await removeAll();
    await report([REMOVED_AT, 2]);
    const before: unknown = (await engine.http.get(`/v1/subscriptions/${id}`)).body;
    for (const query of ['', '?preview=true']) {
      for (const when of ['now', 'period_end']) {
        expect((await change(id, endless, { when }, query)).body).toMatchObject(REFUSED);
      }
    }
    expect((await engine.http.get(`/v1/subscriptions/${id}`)).body).toEqual(before);
    expect(await used()).toBe('2');
    await change(id, await plan('period')).expect(200);
    await change(id, await plan('year')).expect(200);
    expect(await used()).toBe('116');
  });

  it('is refused to a subscription, if its meter is newer than the archived events that it would count', async () => {
    const earlier = await plan('never');
    const id = await subscribe(await plan('month'), { start_at: '2026-02-10T10:00:00Z' });
    await reportAll();
    await archive();
    await meter({ aggregation: 'count', value_property: null });
    const endless = await plan('never');
    const refused = {
      status: 409,
      code: 'usage_archived',
      detail: expect.stringMatching(/since 2026-02-10T10:00:00.000Z, but the meter/) as unknown,
    };
    for (const query of ['', '?preview=true']) {
      for (const when of ['now', 'period_end']) {
        expect((await change(id, endless, { when }, query)).body).toMatchObject(refused);
      }
    }
    const past = subscribed(endless, { start_at: '2026-02-28T00:00:00Z' });
    expect((await engine.http.post('/v1/subscriptions').send(past)).body).toMatchObject({
      code: 'usage_archived',
    });
    await change(id, await plan('month')).expect(200);
    await change(id, earlier).expect(200);
    await subscribe(endless, { start_at: '2026-03-01T00:00:00Z' });
    expect(await used()).toBe('1');
  });

  it('is refused to a subscription that starts now, if its year began before its meter and with archived events', async () => {
    const earlier = await plan('year');
    await subscribe(await plan('month'));
    await reportAll();
    await archive();
    await meter({ aggregation: 'sum' });
    const body = subscribed(await plan('year'));
    for (const query of ['', '?preview=true']) {
      const { body: answer } = await engine.http.post(`/v1/subscriptions${query}`).send(body);
      expect(answer).toMatchObject({
        ...{ status: 409, code: 'usage_archived' },
        detail: expect.stringMatching(/since 2026-01-01T00:00:00.000Z, but the meter/) as unknown,
      });
    }
    await subscribe(earlier);
    await subscribe(await plan('month'));
  });

  it('counts the whole first hour, if its events were removed and the window cannot be refused', async () => {
    const [monthly, endless] = [await plan('month'), await plan('never')];
    const first = await subscribe(monthly);
    await subscribe(endless);
    await reportAll();
    await archive();
    await removeAll();
    await report([REMOVED_AT, 2]);
    // Now the other subscription decides when the allowance resets.
    await engine.http.post(`/v1/subscriptions/${first}/cancel`).send({ when: 'now' }).expect(200);
    expect(await used()).toBe('16');
    const key = await report([REMOVED_AT, 3]);
    expect(await used()).toBe('19');
    await engine.http.post('/v1/usage-events/void').send({ idempotency_key: key }).expect(200);
    expect(await used()).toBe('16');
  });

  it.each(['never', 'period'] as const)(
    'with the reset %s cannot begin within an archived hour with usage, but at whole hours and without usage',
    async (reset) => {
      await reportAll();
      await archive();
      const planId = await plan(reset, 12);
      for (const path of ['/v1/subscriptions', '/v1/subscriptions?preview=true']) {
        const body = subscribed(planId, { start_at: START });
        expect((await engine.http.post(path).send(body)).body).toMatchObject(REFUSED);
      }
      const id = await subscribe(planId, { start_at: '2026-02-10T10:00:00Z' });
      expect(await used()).toBe('14');
      await engine.http.post(`/v1/subscriptions/${id}/cancel`).send({ when: 'now' }).expect(200);
      await subscribe(planId, { start_at: '2026-02-10T11:30:00Z' });
      expect(await used()).toBe('8');
    },
  );

  it.each([
    ['is stored', ['2026-02-10T10:20'], async () => undefined],
    ['was removed by the previous release', [], removeAll],
  ])(
    'takes nothing from grants that a former window covered, if its last hour %s',
    async (_, expected, remove) => {
      engine.clock.set('2026-01-10T10:30:00Z');
      const id = await subscribe(await plan('period'));
      const cancel = `/v1/subscriptions/${id}/cancel`;
      await engine.http.post(cancel).send({ when: 'period_end' }).expect(200);
      engine.clock.set('2026-02-10T10:25:00Z');
      await report(['2026-02-10T10:20:00Z', 90]);
      await archiveAt('2026-02-10T10:31:00Z');
      while (await engine.app.get(EntitlementWindows).runDue()) continue;
      await archive();
      await remove();
      expect(await stored()).toEqual(expected);
      await subscribe(await plan('year', 1, '20'));
      const allowances = new Allowances(engine, customerId);
      await allowances.grant(entitlement.key, { value: '100' });
      expect(await allowances.figures(entitlement.key)).toEqual(['190', '90', '100']);
    },
  );

  it('takes nothing from grants that a former window covered, if its weighted values were removed', async () => {
    await meter({ aggregation: 'weighted_sum', is_recurring: false });
    engine.clock.set('2026-01-10T10:30:00Z');
    const id = await subscribe(await plan('period'));
    const cancel = `/v1/subscriptions/${id}/cancel`;
    await engine.http.post(cancel).send({ when: 'period_end' }).expect(200);
    engine.clock.set('2026-02-10T10:25:00Z');
    await report(['2026-02-10T10:20:00Z', 90]);
    await archiveAt('2026-02-10T10:31:00Z');
    while (await engine.app.get(EntitlementWindows).runDue()) continue;
    await archive();
    await removeAll();
    await report([REMOVED_AT, 50]);
    await subscribe(await plan('year', 1, '20'));
    const [row] = await engine.database.query<{ covered: string }>(
      'SELECT covered FROM customer_entitlement WHERE entitlement_id = $1',
      [entitlement.id],
    );
    // The value is held from 10:20 to the end of the year.
    const hours = 365 * 24 - (40 * 24 + 10 + 1 / 3);
    expect(Number(row?.covered)).toBeCloseTo((90 * hours) / (365 * 24), 9);
  });

  it('keeps the last hour of a window that is dropped while events are removed', async () => {
    await disableLockTimeout(engine);
    engine.clock.set('2026-01-10T10:30:00Z');
    const id = await subscribe(await plan('period'));
    await report([engine.clock.now().toISOString(), 1]);
    await engine.http.post(`/v1/subscriptions/${id}/cancel`).send({ when: 'now' }).expect(200);
    engine.clock.set('2026-02-10T10:25:00Z');
    await report(['2026-02-10T10:20:00Z', 90]);
    await archiveAt(ARCHIVED_AT);
    engine.clock.set(REMOVED_AT);
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    let removing: Promise<unknown> | undefined;
    try {
      await holder.query('BEGIN');
      // The archive has read the balances and waits to delete the events.
      await holder.query('LOCK TABLE usage_event IN SHARE MODE');
      removing = until('the events are removed', async () => !(await removeNext())).catch(
        (error: unknown) => error,
      );
      await untilSessionsWait(engine.database);
      expect(await used()).toBe('0');
    } finally {
      await holder.end();
      await removing;
    }
    expect(await removing).toBeUndefined();
    expect(await stored()).toContain('2026-02-10T10:20');
  });

  it('is not begun if the events of its first hour are being removed', async () => {
    await reportAll();
    await archiveAt(ARCHIVED_AT);
    const remover = new Client({ connectionString: engine.databaseUrl });
    await remover.connect();
    try {
      await remover.query('BEGIN');
      await remover.query('SELECT FROM usage_archive_month FOR UPDATE');
      const answer = engine.http
        .post('/v1/subscriptions')
        .send(subscribed(await plan('never'), { start_at: START }))
        .then(({ body }) => body as object);
      await untilSessionsWait(engine.database);
      await remover.query(`DELETE FROM usage_event WHERE occurred_at < '2026-02-28T00:00:00Z'`);
      await remover.query('COMMIT');
      expect(await answer).toMatchObject(REFUSED);
    } finally {
      await remover.end();
    }
  });

  it('keeps the events of its first hour, if a subscription starts before they are removed', async () => {
    await reportAll();
    await archiveAt(ARCHIVED_AT);
    const id = await subscribe(await plan('never'), { start_at: START });
    expect(await used()).toBe('13');
    await archiveAt(REMOVED_AT);
    expect((await stored()).slice(0, 2)).toEqual(['2026-02-10T10:20', '2026-02-10T10:40']);
    await change(id, await plan('month')).expect(200);
    await change(id, await plan('never')).expect(200);
    expect(await used()).toBe('13');
  });

  describe('by a meter that is created while a month is archived', () => {
    let id: string;

    beforeEach(async () => {
      id = await subscribe(await plan('month'), { start_at: '2026-02-10T10:00:00Z' });
      await reportAll();
    });

    /** Runs the archive until it has closed February, and has yet to write it. */
    async function closeMonth(): Promise<void> {
      engine.clock.set(ARCHIVED_AT);
      while (await engine.app.get(DueSubscriptions).runDue()) continue;
      await until('a month is closed', async () => {
        await engine.app.get(DueUsageArchive).runDue();
        return (await engine.database.query('SELECT FROM usage_archive_month')).length > 0;
      });
    }

    /** Runs `act` while another session has locked a table. */
    async function whileLocked(lock: string, act: () => Promise<void>): Promise<void> {
      const holder = new Client({ connectionString: engine.databaseUrl });
      await holder.connect();
      try {
        await holder.query('BEGIN');
        await holder.query(`LOCK TABLE ${lock}`);
        await act();
        await holder.query('COMMIT');
      } finally {
        await holder.end();
      }
    }

    /** Requires that the newest meter lacks the events of February, and that no plan can count them with it. */
    async function expectUncounted(): Promise<void> {
      const { body } = await engine.http.get('/v1/meters?limit=1').expect(200);
      expect(body).toMatchObject({
        data: [{ status: 'active', counted_from: '2026-03-01T00:00:00.000Z' }],
      });
      const answer = await change(id, await plan('never'));
      expect(answer.body).toMatchObject({ status: 409, code: 'usage_archived' });
    }

    it('is refused if its meter waited until the month was written', async () => {
      await closeMonth();
      const running: Promise<unknown>[] = [];
      await whileLocked('usage_archive_file IN SHARE MODE', async () => {
        running.push(engine.app.get(DueUsageArchive).runDue());
        await untilSessionsWait(engine.database);
        running.push(meter({ aggregation: 'sum' }));
        await untilSessionsWait(engine.database, 2);
        engine.clock.advanceMs(1_000);
      });
      await Promise.all(running);
      await expectUncounted();
    });

    it('is counted if the archive waited until its meter was created', async () => {
      await closeMonth();
      const running: Promise<unknown>[] = [];
      await whileLocked('meter', async () => {
        running.push(meter({ aggregation: 'sum' }));
        await untilSessionsWait(engine.database);
        expect(await engine.app.get(DueUsageArchive).runDue()).toBe(false);
      });
      await Promise.all(running);
      const whole = `customer_id=${customerId}&from=2026-02-01T00:00:00Z&to=2026-05-01T00:00:00Z`;
      const [{ id: meterId }] = (
        (await engine.http.get('/v1/meters?limit=1')).body as { data: [{ id: string }] }
      ).data;
      const { body } = await engine.http.get(`/v1/meters/${meterId}/usage?${whole}`).expect(200);
      expect(body).toMatchObject({ total: '114' });
    });

    it('is refused if its process has a slower clock than the worker that wrote the month', async () => {
      await archiveAt(ARCHIVED_AT);
      engine.clock.advanceMs(-3_000);
      await meter({ aggregation: 'sum' });
      engine.clock.advanceMs(60_000);
      await expectUncounted();
    });
  });
});
