import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from 'pg';
import { parseDecimal } from '../../src/core/decimal';
import { ConsumeService } from '../../src/modules/entitlements/consume.service';
import { EntitlementWindows } from '../../src/modules/entitlements/entitlement-windows';
import { Allowances, createEntitlement } from '../support/allowances';
import { checkedClient } from '../support/checked-client';
import { countLockWaits } from '../support/lock-waits';
import { startTestApp, Story, type TestApp } from '../support/story';
import { until } from '../support/until';
import { EVENTS } from '../support/stored-events';

const RUN_TS = join(__dirname, '../support/run-ts.cjs');
const API = join(__dirname, '../support/api-process.ts');

interface Setup {
  readonly story: Story;
  readonly key: string;
  readonly eventName: string;
  readonly allowances: Allowances;
  readonly subscriptionId: string;
}

describe('metered usage of an entitlement', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function meterOf(fields: Readonly<Record<string, unknown>>): Promise<string> {
    const answer = await engine.http.post('/v1/meters').send({ name: 'Calls', ...fields });
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  /** Subscribes a customer, from 1 March at noon, to a plan that allows 100 of a new meter. */
  async function subscriber(
    meter: Readonly<Record<string, unknown>> = {},
    allowed: Readonly<Record<string, unknown>> = {},
    thresholds: readonly number[] = [80, 100],
    customer: Readonly<Record<string, unknown>> = {},
  ): Promise<Setup> {
    made += 1;
    const eventName = `call.${made}`;
    const meterId = await meterOf({
      key: `calls_${made}`,
      event_name: eventName,
      aggregation: 'sum',
      value_property: 'amount',
      ...meter,
    });
    const { id, key } = await createEntitlement(engine, { meter_id: meterId, thresholds });
    const story = await Story.begin(engine, '2026-03-01T12:00:00Z', customer);
    const planId = await story.plan(1_000, {
      entitlements: [{ entitlement_id: id, value: '100', ...allowed }],
    });
    const { id: subscriptionId } = await story.subscribe(planId);
    const allowances = new Allowances(engine, story.customerId);
    return { story, key, eventName, allowances, subscriptionId };
  }

  /** Voids one event of the customer. */
  async function takeBack({ story }: Setup): Promise<void> {
    const path = `/v1/usage-events?customer_id=${story.customerId}&limit=1`;
    const { body } = await engine.http.get(path);
    const [event] = (body as { data: { idempotency_key: string }[] }).data;
    const voided = await engine.http
      .post('/v1/usage-events/void')
      .send({ idempotency_key: event?.idempotency_key });
    expect(voided.status).toBe(200);
  }

  /** Sends events of the customer; returns how many were accepted. */
  async function send(
    { story, eventName }: Setup,
    amounts: readonly string[],
    timestamp = '2026-03-01T13:00:00Z',
  ): Promise<number> {
    const events = amounts.map((amount) => ({
      idempotency_key: `event-${(made += 1)}`,
      customer_id: story.customerId,
      event_name: eventName,
      timestamp,
      properties: { amount },
    }));
    const answer = await engine.http.post('/v1/usage-events').send({ events });
    expect(answer.body).toMatchObject({ accepted: amounts.length });
    return amounts.length;
  }

  async function notifiedOf(customerId: string): Promise<readonly unknown[]> {
    const rows = await engine.database.query<{ type: string; percent: number }>(
      `SELECT type, data->'object'->'percent' AS percent FROM ${EVENTS}
      WHERE type LIKE 'entitlement.%reached' AND data->'object'->>'customer_id' = $1 ORDER BY id`,
      [customerId],
    );
    return rows.map(({ type, percent }) => [type.split('.')[1], percent]);
  }

  it('is in the answer as soon as the event is acknowledged', async () => {
    const setup = await subscriber();
    expect(await setup.allowances.figures(setup.key)).toEqual(['100', '0', '100']);
    for (const used of ['10.5', '21', '31.5']) {
      expect(await send(setup, ['10.5'])).toBe(1);
      expect((await setup.allowances.of(setup.key)).used).toBe(used);
    }
    await send(setup, ['1', '2', '3']);
    expect(await setup.allowances.figures(setup.key)).toEqual(['100', '37.5', '62.5']);
  });

  it('is the usage in the period, also from before the first check', async () => {
    const setup = await subscriber();
    await send(setup, ['1'], '2026-03-01T11:59:59.999Z');
    await send(setup, ['2'], '2026-03-01T12:00:00Z');
    expect(await setup.allowances.figures(setup.key)).toEqual(['100', '2', '98']);
  });

  it.each([
    ['count', { aggregation: 'count', value_property: undefined }, '3'],
    ['max', { aggregation: 'max' }, '7'],
    ['unique', { aggregation: 'unique' }, '2'],
    ['latest', { aggregation: 'latest' }, '7'],
    ['a sum by group', { group_by: ['amount'] }, '11'],
    ['a sum with a filter', { filters: [{ property: 'amount', in: ['2'] }] }, '4'],
  ])('equals the value of the meter by %s', async (_, meter, used) => {
    const setup = await subscriber(meter);
    await send(setup, ['2', '2', '7']);
    expect((await setup.allowances.of(setup.key)).used).toBe(used);
    const asked = await subscriber(meter);
    await asked.allowances.of(asked.key);
    await send(asked, ['2', '2', '7']);
    expect((await asked.allowances.of(asked.key)).used).toBe(used);
  });

  it('is consumed as an event, so that it is billed as well', async () => {
    const setup = await subscriber({ filters: [{ property: 'region', in: ['eu', 'us'] }] });
    const { allowances, key, story } = setup;
    expect(await allowances.consume(key, '30.5', 'a')).toMatchObject({
      allowed: true,
      used: '30.5',
    });
    await allowances.consume(key, '30.5', 'a');
    expect(await allowances.consume(key, '70', 'b')).toMatchObject({ allowed: false });
    const events = await engine.database.query(
      `SELECT event_name, properties FROM usage_event JOIN usage_stream s ON s.id = stream_id
      WHERE s.customer_id = $1`,
      [story.customerId],
    );
    expect(events).toEqual([
      { event_name: setup.eventName, properties: { amount: '30.5', region: 'eu' } },
    ]);
    expect(await allowances.figures(key)).toEqual(['100', '30.5', '69.5']);
  });

  it.each([
    ['count', { aggregation: 'count', value_property: undefined }, '2'],
    ['max', { aggregation: 'max' }, '1'],
  ])('cannot be consumed where a %s cannot count the quantity', async (_, meter, quantity) => {
    const { allowances, key } = await subscriber(meter);
    const answer = await engine.http
      .post(`${allowances.path(key)}/consume`)
      .send({ quantity, idempotency_key: 'a' });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: 'entitlement_not_consumable' });
    expect((await allowances.of(key)).used).toBe('0');
  });

  it.each(['max', 'unique', 'latest'])(
    'cannot be consumed where a %s meter counts, within the limit, beyond it, and at the same time',
    async (aggregation) => {
      const { allowances, key } = await subscriber({ aggregation });
      const consume = async (quantity: string, idempotencyKey: string) => {
        const { status, body } = await engine.http
          .post(`${allowances.path(key)}/consume`)
          .send({ quantity, idempotency_key: idempotencyKey });
        return [status, (body as { code?: string }).code];
      };
      const refused = [422, 'entitlement_not_consumable'];
      expect(await consume('1', 'within')).toEqual(refused);
      expect(await consume('101', 'beyond')).toEqual(refused);
      const asked = [
        ['1', 'a'],
        ['101', 'b'],
        ['101', 'c'],
        ['101', 'c'],
      ] as const;
      const answers = await Promise.all(asked.map(([quantity, name]) => consume(quantity, name)));
      expect(answers).toEqual(asked.map(() => refused));
      expect((await allowances.of(key)).used).toBe('0');
    },
  );

  it.each([
    ['another', '2'],
    ['an equal', '1'],
  ])('cannot be consumed if %s event has its key', async (_, quantity) => {
    const { allowances, key, story } = await subscriber();
    await allowances.consume(key, '1', 'a');
    // The stored answer is lost; the event is not.
    await engine.database.query('DELETE FROM entitlement_consumption WHERE customer_id = $1', [
      story.customerId,
    ]);
    const answer = await engine.http
      .post(`${allowances.path(key)}/consume`)
      .send({ quantity, idempotency_key: 'a' });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      code: 'consumption_refused',
      reason: 'idempotency_key_reused',
    });
    expect((await allowances.of(key)).used).toBe('1');
  });

  describe('consumed by 200 callers at once', () => {
    /** Consumes 1 per request, distributed over the agents; returns the statuses and the number of allowed requests. */
    async function consumeAtOnce(
      { allowances, key }: Setup,
      agents: readonly TestApp['http'][],
    ): Promise<{ readonly statuses: readonly number[]; readonly allowed: number }> {
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, caller) =>
          (agents[caller % agents.length] ?? engine.http)
            .post(`${allowances.path(key)}/consume`)
            .send({ quantity: '1', idempotency_key: `caller-${caller}` }),
        ),
      );
      return {
        statuses: [...new Set(answers.map(({ status }) => status))],
        allowed: answers.filter(({ body }) => (body as { allowed?: boolean }).allowed).length,
      };
    }

    async function withTwoProcesses(
      work: (agents: readonly TestApp['http'][]) => Promise<void>,
    ): Promise<void> {
      const child = fork(RUN_TS, [API, engine.databaseUrl], { execArgv: [] });
      try {
        const [url] = (await once(child, 'message')) as [string];
        await work([engine.http, checkedClient(url)]);
      } finally {
        child.kill('SIGKILL');
      }
    }

    it('is allowed exactly 100 times of 100, by one process', async () => {
      const setup = await subscriber();
      expect(await consumeAtOnce(setup, [engine.http])).toEqual({ statuses: [200], allowed: 100 });
      expect(await setup.allowances.figures(setup.key)).toEqual(['100', '100', '0']);
      expect(await notifiedOf(setup.story.customerId)).toHaveLength(3);
    });

    it('is allowed exactly 100 times of 100, by two processes', async () => {
      const setup = await subscriber();
      await withTwoProcesses(async (agents) => {
        expect(await consumeAtOnce(setup, agents)).toEqual({ statuses: [200], allowed: 100 });
      });
      expect(await setup.allowances.figures(setup.key)).toEqual(['100', '100', '0']);
    });

    it('is never allowed beyond the limit by two processes while events arrive', async () => {
      const setup = await subscriber();
      await withTwoProcesses(async (agents) => {
        const events = Array.from({ length: 20 }, () => send(setup, ['1']));
        const { statuses, allowed } = await consumeAtOnce(setup, agents);
        await Promise.all(events);
        expect(statuses).toEqual([200]);
        expect((await setup.allowances.of(setup.key)).used).toBe(String(allowed + 20));
        // Events are accepted beyond a limit: they report what has happened.
        expect(allowed).toBeGreaterThanOrEqual(80);
        expect(allowed).toBeLessThanOrEqual(100);
      });
    });
  });

  it('answers concurrent consumptions by their own keys and quantities', async () => {
    const setup = await subscriber({ aggregation: 'count', value_property: undefined });
    const { allowances, key } = setup;
    const answers = await Promise.all(
      [
        ['1', 'a'],
        ['1', 'b'],
        ['1', 'b'],
        ['2', 'b'],
        ['2', 'c'],
        ['101', 'd'],
        ['1', 'e'],
      ].map(async ([quantity, idempotency_key]) => {
        const { status, body } = await engine.http
          .post(`${allowances.path(key)}/consume`)
          .send({ quantity, idempotency_key });
        const { code, allowed } = body as { code?: string; allowed?: boolean };
        return [idempotency_key, status, code ?? allowed];
      }),
    );
    expect(answers.filter(([named]) => named !== 'b')).toEqual([
      ['a', 200, true],
      ['c', 422, 'entitlement_not_consumable'],
      ['d', 200, false],
      ['e', 200, true],
    ]);
    expect((await allowances.of(key)).used).toBe('3');
  });

  it('is refused for a key that another process refuses concurrently, and allowed for others', async () => {
    // On a test clock, a refusal locks the customer too.
    engine.clock.set('2026-03-01T12:00:00.000Z');
    const setup = await subscriber({}, {}, [80, 100], { test_clock_id: undefined });
    const { allowances, key, story } = setup;
    const { customerId } = story;
    await send(setup, ['100']);
    await allowances.consume(key, '1', 'known');
    const other = await startTestApp({ databaseUrl: engine.databaseUrl });
    other.clock.set(engine.clock.now().toISOString());
    const client = new Client({ connectionString: engine.databaseUrl });
    await client.connect();
    const areWaiting = async (count: number): Promise<boolean> =>
      (await countLockWaits(engine.database)) === count;
    try {
      // A refusal takes no lock, but cannot commit while the referenced customer row is locked.
      await client.query('BEGIN');
      await client.query('SELECT FROM customer WHERE id = $1 FOR UPDATE', [customerId]);
      const refused = allowances.consume(key, '1', 'shared');
      await until('the refusal waits', () => areWaiting(1));
      await takeBack(setup);
      // A key with a stored answer does not block the batch: the two others are decided together, and allowed.
      const consuming = other.app.get(ConsumeService);
      const answers = ['known', 'shared', 'own'].map((idempotencyKey) =>
        consuming.consume({ customerId, key }, { idempotencyKey, quantity: parseDecimal('1') }),
      );
      await until('the other process waits', () => areWaiting(2));
      await client.query('COMMIT');
      expect(await refused).toMatchObject({ allowed: false });
      const allowed = (await Promise.all(answers)).map(({ isAllowed }) => isAllowed);
      expect(allowed).toEqual([false, false, true]);
    } finally {
      await client.end();
      await other.close();
    }
    expect(await allowances.figures(key)).toEqual(['100', '1', '99']);
    expect(await allowances.consume(key, '1', 'shared')).toMatchObject({ allowed: false });
  });

  it('records thresholds by the distinct values of all groups together', async () => {
    const meter = { aggregation: 'unique', group_by: ['region'] };
    const setup = await subscriber(meter, { value: '4' }, [50]);
    const report = async (region: string, amount: string): Promise<void> => {
      const event = {
        idempotency_key: `event-${(made += 1)}`,
        customer_id: setup.story.customerId,
        event_name: setup.eventName,
        timestamp: '2026-03-01T13:00:00Z',
        properties: { amount, region },
      };
      const { status } = await engine.http.post('/v1/usage-events').send(event);
      expect(status).toBe(200);
    };
    for (const region of ['eu', 'us', 'ap', 'sa']) await report(region, '1');
    expect((await setup.allowances.of(setup.key)).used).toBe('1');
    expect(await notifiedOf(setup.story.customerId)).toEqual([]);
    await report('eu', '2');
    expect((await setup.allowances.of(setup.key)).used).toBe('2');
    expect(await notifiedOf(setup.story.customerId)).toEqual([['threshold_reached', 50]]);
  });

  it('records thresholds in the commit of the event that reached them', async () => {
    const setup = await subscriber();
    const { customerId } = setup.story;
    // No check was made yet: the subscription opened the window.
    await send(setup, ['79']);
    expect(await notifiedOf(customerId)).toEqual([]);
    await send(setup, ['1']);
    expect(await notifiedOf(customerId)).toEqual([['threshold_reached', 80]]);
    await send(setup, ['30', '1']);
    await send(setup, ['1']);
    expect(await notifiedOf(customerId)).toEqual([
      ['threshold_reached', 80],
      ['threshold_reached', 100],
      ['limit_reached', 100],
    ]);
    expect(await setup.allowances.of(setup.key)).toMatchObject({ has_access: false, used: '112' });
  });

  it('records thresholds again in each billing period and calendar day', async () => {
    for (const [allowed, next, second] of [
      [{}, '2026-04-01T12:00:00Z', '2026-04-02T00:00:00Z'],
      [{ reset: 'day' }, '2026-03-02T00:00:00Z', '2026-03-02T01:00:00Z'],
    ] as const) {
      const setup = await subscriber({}, allowed, [50]);
      await send(setup, ['60'], '2026-03-01T13:00:00Z');
      await setup.story.advance(next);
      await send(setup, ['49'], second);
      expect(await notifiedOf(setup.story.customerId)).toEqual([['threshold_reached', 50]]);
      await send(setup, ['1'], second);
      expect(await notifiedOf(setup.story.customerId)).toHaveLength(2);
      expect((await setup.allowances.of(setup.key)).used).toBe('50');
    }
  });

  it('records nothing while the subscription is paused, and the limit when it is reached after that', async () => {
    const setup = await subscriber({}, {}, []);
    const { story, subscriptionId } = setup;
    await story.command(subscriptionId, 'pause');
    await send(setup, ['5']);
    expect(await notifiedOf(story.customerId)).toEqual([]);
    await story.command(subscriptionId, 'resume');
    await send(setup, ['94']);
    expect(await notifiedOf(story.customerId)).toEqual([]);
    await send(setup, ['1']);
    expect(await notifiedOf(story.customerId)).toEqual([['limit_reached', 100]]);
  });

  it('records thresholds of grants alone, also in the window after the last period', async () => {
    const setup = await subscriber({}, {}, []);
    const { story, allowances, key, subscriptionId } = setup;
    await allowances.grant(key, { value: '10', rollover: { max: '10' } });
    await story.command(subscriptionId, 'cancel', { when: 'now' });
    await story.advance('2026-04-10T00:00:00Z');
    await send(setup, ['10'], '2026-04-05T00:00:00Z');
    expect(await notifiedOf(story.customerId)).toEqual([['limit_reached', 100]]);
    expect(await allowances.figures(key)).toEqual(['10', '10', '0']);
  });

  it('records thresholds after an upgrade and another add-on', async () => {
    const setup = await subscriber({}, { is_hard_limit: false });
    await send(setup, ['50']);
    await setup.allowances.grant(setup.key, { value: '100' });
    await send(setup, ['60']);
    expect(await notifiedOf(setup.story.customerId)).toEqual([]);
    await send(setup, ['60']);
    expect(await notifiedOf(setup.story.customerId)).toEqual([['threshold_reached', 80]]);
    expect(await setup.allowances.figures(setup.key)).toEqual(['200', '170', '30']);
  });

  it('is taken from grants, which expire and roll over with the usage counted at that time', async () => {
    const setup = await subscriber();
    const { story, allowances, key } = setup;
    await allowances.grant(key, { value: '50', expires_at: '2026-03-10T00:00:00Z', priority: 1 });
    await allowances.grant(key, { value: '50', rollover: { max: '40' }, priority: 2 });
    await send(setup, ['120']);
    expect(await allowances.figures(key)).toEqual(['200', '120', '80']);
    // Later usage is not taken from an expired grant, whenever it is checked.
    await story.advance('2026-03-20T00:00:00Z');
    await send(setup, ['20'], '2026-03-15T00:00:00Z');
    expect(await allowances.figures(key)).toEqual(['170', '140', '30']);
    expect(await allowances.grants(key)).toEqual([
      ['expired', null],
      ['active', '30'],
    ]);
    await story.advance('2026-04-01T12:00:00Z');
    expect(await allowances.figures(key)).toEqual(['130', '0', '130']);
    await story.advance('2026-06-01T12:00:00Z');
    expect(await allowances.figures(key)).toEqual(['130', '0', '130']);
  });

  it('records thresholds by the allowance after a grant expired, and late usage is not taken from that grant', async () => {
    const setup = await subscriber({}, {}, []);
    const { story, allowances, key } = setup;
    await allowances.grant(key, { value: '50', expires_at: '2026-03-10T00:00:00Z' });
    await send(setup, ['90']);
    await story.advance('2026-03-20T00:00:00Z');
    // Its timestamp is before the expiry.
    await send(setup, ['9']);
    expect(await notifiedOf(story.customerId)).toEqual([]);
    await send(setup, ['1']);
    expect(await notifiedOf(story.customerId)).toEqual([['limit_reached', 100]]);
    await send(setup, ['5']);
    expect(await allowances.figures(key)).toEqual(['100', '105', '0']);
  });

  it('decreases when an event is voided', async () => {
    const setup = await subscriber();
    await send(setup, ['60', '30']);
    await takeBack(setup);
    expect(['60', '30']).toContain((await setup.allowances.of(setup.key)).used);
  });

  it('that is voided leaves no quantity of an expired grant', async () => {
    const setup = await subscriber();
    const { story, allowances, key } = setup;
    await allowances.grant(key, { value: '50', expires_at: '2026-03-03T00:00:00Z' });
    await send(setup, ['65', '65']);
    await story.advance('2026-03-04T00:00:00Z');
    expect(await allowances.figures(key)).toEqual(['130', '130', '0']);
    await takeBack(setup);
    expect(await allowances.figures(key)).toEqual(['100', '65', '35']);
  });

  it('keeps only the usage windows that a balance needs', async () => {
    const setup = await subscriber({}, { reset: 'day' });
    await setup.story.advance('2026-03-08T00:00:00Z');
    await setup.allowances.of(setup.key);
    const rows = await engine.database.query<{ count: string }>(
      `SELECT count(*) FROM usage_window w JOIN usage_stream s ON s.id = w.stream_id
      WHERE s.customer_id = $1`,
      [setup.story.customerId],
    );
    expect(rows).toEqual([{ count: '1' }]);
  });

  it('opens its calendar windows by the real clock, too', async () => {
    const windows = engine.app.get(EntitlementWindows);
    const setup = await subscriber({}, { reset: 'day' });
    await engine.database.query(
      `UPDATE customer_entitlement SET test_clock_id = NULL WHERE customer_id = $1`,
      [setup.story.customerId],
    );
    engine.clock.set('2026-03-01T23:59:59.999Z');
    expect(await windows.runDue()).toBe(false);
    engine.clock.set('2026-03-02T00:00:00Z');
    expect(await windows.runDue()).toBe(true);
    expect(await windows.runDue()).toBe(false);
    engine.clock.set('2026-03-01T09:30:00Z');
  });
});
