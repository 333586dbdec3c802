import { Allowances, createAddonWith, createEntitlement } from '../support/allowances';
import { type Bucket, bucketsOf, createCustomer } from '../support/metering';
import { whileFrozen } from '../support/frozen-work';
import { loseNumber } from '../support/process-sessions';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

/** A customer with a grant of 1,000, and the entitlement and the meter that count it. */
interface Consumer {
  readonly id: string;
  readonly key: string;
  readonly meterId: string;
  readonly allowances: Allowances;
}

const PLAN = {
  name: 'Plan',
  currency: 'USD',
  interval: 'month',
  prices: [{ name: 'Plan', model: 'flat', amount: 100, timing: 'in_advance' }],
};
/** Largest value of the PostgreSQL type `integer`. */
const LARGEST = 2_147_483_647;
const SUM = { aggregation: 'sum', value_property: 'amount' };

describe('consumptions of balances that the process has written last', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function meter(eventName: string, fields: object): Promise<string> {
    const key = `known_${(made += 1)}`;
    const { status, body } = await engine.http
      .post('/v1/meters')
      .send({ key, name: key, event_name: eventName, ...fields });
    expect(status).toBe(201);
    return (body as { readonly id: string }).id;
  }

  async function consumer(eventName: string, fields: object): Promise<Consumer> {
    const meterId = await meter(eventName, fields);
    const { key } = await createEntitlement(engine, { meter_id: meterId });
    const id = await createCustomer(engine);
    const allowances = new Allowances(engine, id);
    await allowances.grant(key, { value: '1000' });
    await allowances.of(key);
    return { id, key, meterId, allowances };
  }

  const consume = ({ allowances, key }: Consumer, name: string, quantity: string) =>
    allowances.consume(key, quantity, name);

  /** Returns the keys of the consumptions that were a statement of their own. */
  async function inOneStatement({ id }: Consumer): Promise<readonly string[]> {
    const rows = await engine.database.query<{ key: string }>(
      `SELECT idempotency_key AS key FROM entitlement_consumption WHERE customer_id = $1 AND cmin::text = '0' ORDER BY 1`,
      [id],
    );
    return rows.map(({ key }) => key);
  }

  const figuresOf = (buckets: readonly Bucket[]) =>
    buckets.map(({ group, events, total }) => [group, events, total]);

  it.each([
    ['a meter that adds up', SUM, '2.5', ['[]', 4, '10']],
    ['a meter that counts', { aggregation: 'count' }, '1', ['[]', 4, '0']],
    ['a meter with groups', { ...SUM, group_by: ['region'] }, '2.5', ['[null]', 4, '10']],
    [
      'a meter that filters',
      { ...SUM, filters: [{ property: 'kind', in: ['a', 'b'] }] },
      '0.000000000001',
      ['[]', 4, '0.000000000004'],
    ],
  ])('are counted by %s', async (_, fields, quantity, total) => {
    const one = await consumer(`event_${made}`, fields);
    for (const name of ['a', 'b']) await consume(one, name, quantity);
    await Promise.all(['c', 'd'].map((name) => consume(one, name, quantity)));
    expect(await inOneStatement(one)).toEqual(['b', 'c', 'd']);
    // The hour, and the window of the balance.
    expect(figuresOf(await bucketsOf(engine, one.meterId))).toEqual([total, total]);
    const stored = await engine.database.query(
      `SELECT last_position::int AS last, (SELECT array_agg(position::int ORDER BY position) FROM usage_event WHERE stream_id = id) AS positions
       FROM usage_stream WHERE customer_id = $1`,
      [one.id],
    );
    expect(stored).toEqual([{ last: 4, positions: [1, 2, 3, 4] }]);
  });

  it('are counted by all meters of their events', async () => {
    const other = await meter('shared', { aggregation: 'max', value_property: 'amount' });
    const one = await consumer('shared', SUM);
    for (const [name, quantity] of Object.entries({ a: '2', b: '7', c: '3' })) {
      await consume(one, name, quantity);
    }
    expect(await inOneStatement(one)).toEqual(['b', 'c']);
    expect(figuresOf(await bucketsOf(engine, one.meterId))).toEqual([
      ['[]', 3, '12'],
      ['[]', 3, '12'],
    ]);
    expect(
      (await bucketsOf(engine, other)).map(({ events, greatest }) => [events, greatest]),
    ).toEqual([[3, '7']]);
  });

  it('are read again after the session of the process ended: a standby may lack the last commits', async () => {
    const one = await consumer('failover', SUM);
    for (const name of ['a', 'b']) await consume(one, name, '1');
    await loseNumber(engine);
    for (const name of ['c', 'd']) await consume(one, name, '1');
    expect(await inOneStatement(one)).toEqual(['b', 'd']);
  });

  it.each([
    ['first', [], ['d']],
    ['later', ['a'], ['d', 'x']],
  ])(
    'are read again if the session ended during the %s write of the balance',
    async (which, before, own) => {
      const one = await consumer(`failover_${which}`, SUM);
      for (const name of before) await consume(one, name, '1');
      await whileFrozen(
        engine,
        'INSERT ON entitlement_consumption',
        () => consume(one, 'x', '1'),
        () => loseNumber(engine),
      );
      for (const name of ['c', 'd']) await consume(one, name, '1');
      expect(await inOneStatement(one)).toEqual(own);
    },
  );

  it('store refusals, which count nothing', async () => {
    const one = await consumer('refused', SUM);
    for (const name of ['a', 'b']) await consume(one, name, '100');
    expect(await consume(one, 'c', '801')).toMatchObject({ allowed: false, used: '200' });
    expect(await consume(one, 'c', '801')).toMatchObject({ allowed: false, used: '200' });
    const [allowed, refused] = await Promise.all([
      consume(one, 'd', '400'),
      consume(one, 'e', '401'),
    ]);
    expect([allowed.allowed, refused.allowed]).toEqual([true, false]);
    expect(figuresOf(await bucketsOf(engine, one.meterId))).toEqual([
      ['[]', 3, '600'],
      ['[]', 3, '600'],
    ]);
  });

  it('are counted in a window that has started since', async () => {
    const one = await consumer('ended', SUM);
    for (const name of ['a', 'b']) await consume(one, name, '1');
    await engine.database.query(
      `INSERT INTO usage_window (stream_id, meter_id, start_at, end_at)
       SELECT id, $2, $3::timestamptz + interval '1 minute', '2999-01-01' FROM usage_stream WHERE customer_id = $1`,
      [one.id, one.meterId, engine.clock.now()],
    );
    for (const name of ['c', 'd', 'e']) await consume(one, name, '1');
    engine.clock.advanceMs(60_000);
    await consume(one, 'f', '1');
    expect(await inOneStatement(one)).toEqual(['b', 'e']);
    const [row] = await engine.database.query<{ events: number }>(
      `SELECT events::int FROM usage_bucket WHERE meter_id = $1 AND end_at = '2999-01-01'`,
      [one.meterId],
    );
    expect(row).toEqual({ events: 1 });
  });

  it('are counted after the largest version of a balance, like events and grants', async () => {
    const one = await consumer('largest', SUM);
    const where = 'WHERE customer_id = $1';
    const setVersion = (version: number) =>
      engine.database.query(`UPDATE customer_entitlement SET version = $2 ${where}`, [
        one.id,
        version,
      ]);
    const version = async () => {
      const select = `SELECT version FROM customer_entitlement ${where}`;
      return (await engine.database.query<{ version: number }>(select, [one.id]))[0]?.version;
    };
    await setVersion(LARGEST);
    await consume(one, 'a', '1');
    expect(await version()).toBe(1);
    await setVersion(LARGEST - 2);
    for (const name of ['b', 'c', 'd', 'e']) await consume(one, name, '1');
    expect([await version(), await inOneStatement(one)]).toEqual([2, ['d', 'e']]);
    await setVersion(LARGEST);
    await post(engine, '/v1/usage-events', {
      idempotency_key: 'largest-1',
      customer_id: one.id,
      event_name: 'largest',
      timestamp: engine.clock.now().toISOString(),
      properties: { amount: '1' },
    });
    expect([await version(), await one.allowances.figures(one.key)]).toEqual([
      1,
      ['1000', '6', '994'],
    ]);
    await setVersion(LARGEST);
    await one.allowances.grant(one.key, { value: '5' });
    expect(await one.allowances.figures(one.key)).toEqual(['1005', '6', '999']);
  });

  describe.each([
    ['without a meter', false],
    ['with a meter', true],
  ])('%s, after the link of their add-on', (_, isMetered) => {
    it.each([
      ['was lowered', { value: '10' }, '30', { allowed: false, limit: '10', used: '4' }],
      ['was raised', { value: '1000' }, '200', { allowed: true, limit: '1000', used: '204' }],
      ['was deleted', null, '30', { allowed: false, limit: '0', used: '4' }],
    ])('%s, are answered by the new limit', async (__, change, quantity, answer) => {
      const meterId = isMetered ? await meter(`linked_${made}`, SUM) : null;
      const { id, key } = await createEntitlement(engine, { meter_id: meterId });
      const { addonId, linkId } = await createAddonWith(engine, id, { value: '100' });
      const customerId = await createCustomer(engine);
      const plan = await post(engine, '/v1/plans', { ...PLAN, code: `linked-${(made += 1)}` });
      await post(engine, '/v1/subscriptions', {
        customer_id: customerId,
        plan_id: plan.id,
        addons: [{ addon_id: addonId }],
        collection: 'send_invoice',
      });
      const allowances = new Allowances(engine, customerId);
      for (let n = 0; n < 4; n += 1) await allowances.consume(key, '1');
      const link = `/v1/addon-entitlements/${linkId}`;
      const changed = await (change === null
        ? engine.http.delete(link)
        : engine.http.patch(link).send(change));
      expect(changed.status).toBe(change === null ? 204 : 200);
      expect(await allowances.consume(key, quantity)).toMatchObject(answer);
      expect(await allowances.of(key)).toMatchObject({ limit: answer.limit, used: answer.used });
    });
  });
});
