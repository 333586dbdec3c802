import { startTestApp, Story, type TestApp, type UsageSoFar } from '../support/story';

describe('a percentage of usage that is refunded', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { LOG_LEVEL: 'fatal' } });
  });

  afterAll(() => engine.close());

  /** Subscribes a customer to a percentage price, on 1 January; the usage of January is reported from the 15th on. */
  async function begin(price: object) {
    const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z');
    const { id, event } = await story.meter();
    const fee = { name: 'Fee', model: 'percentage', timing: 'in_arrears', meter_id: id, ...price };
    const plan = await story.planOf([fee]);
    const subscription = await story.subscribe(plan.id);
    await story.advance('2026-01-15T00:00:00.000Z');
    const use = (n: number) => story.reportUsage(event, '2026-01-10T00:00:00.000Z', { n });
    return { story, subscription, use };
  }

  it('costs nothing while more was refunded than used', async () => {
    const { story, use } = await begin({ rate: '0.1' });
    await use(-1_000);
    await story.advance('2026-02-01T00:00:00.000Z');
    expect(await story.lines()).toEqual([[['usage', '-1000', 0]]]);

    await use(3_000);
    await story.advance('2026-03-01T00:00:00.000Z');
    expect((await story.lines()).slice(1)).toEqual([[['usage', '3000', 200]]]);
    await story.verify();
  });

  it('costs the same whether it is reported before or after the invoice', async () => {
    const { story, use } = await begin({ rate: '0.1' });
    await use(1_000);
    await story.advance('2026-02-01T00:00:00.000Z');
    await use(-1_500);
    await story.advance('2026-03-01T00:00:00.000Z');
    await use(1_000);
    await story.advance('2026-04-01T00:00:00.000Z');
    // 10 % of 1000 - 1500 + 1000 is 50.
    expect(await story.lines()).toEqual([
      [['usage', '1000', 100]],
      [['usage', '-1500', -100]],
      [['usage', '1000', 50]],
    ]);
    await story.verify();
  });

  it('has its fixed fees in full in a part of a period, also where refunds leave no amount', async () => {
    const { story, subscription, use } = await begin({ rate: '0.1', fixed_amount: 30 });
    await use(1_000);
    await use(-1_000);
    await story.advance('2026-01-16T00:00:00.000Z');
    await story.command(subscription.id, 'cancel', { when: 'now' });
    expect(await story.lines()).toEqual([[['usage', '0', 60]]]);
    await story.verify();
  });
});

describe('a percentage by group', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Returns the number of statements that list counted events during the work. */
  async function statementsDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
    const { database } = engine;
    const query = database.query.bind(database);
    const statements: string[] = [];
    const spy = jest.spyOn(database, 'query').mockImplementation((sql, parameters) => {
      statements.push(sql);
      return query(sql, parameters);
    });
    try {
      await work();
    } finally {
      spy.mockRestore();
    }
    return statements;
  }

  const isList = (sql: string) => sql.includes('FROM usage_event AS event CROSS JOIN usage_stream');

  async function listsDuring(work: () => Promise<unknown>): Promise<number> {
    return (await statementsDuring(work)).filter(isList).length;
  }

  it('lists the events of all groups at once, and charges each group in time order', async () => {
    const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z');
    const { id, event } = await story.meter({ group_by: ['seller'] });
    const fee = {
      name: 'Fee',
      model: 'percentage',
      timing: 'in_arrears',
      meter_id: id,
      by_group: true,
      rate: '0.1',
      fixed_amount: 30,
      free_units: '1',
    };
    const plan = await story.planOf([fee]);
    await story.subscribe(plan.id);
    await story.advance('2026-01-15T00:00:00.000Z');
    const sales = [
      [12, 'a', 200],
      [11, 'b', 3_000],
      [10, 'a', 1_000],
      [13, 'b', 100],
      [14, 'a', 400],
      [12, 'é"\u0001', 700],
      [13, null, 500],
      [14, null, 600],
    ] as const;
    for (const [day, seller, n] of sales) {
      const properties = seller === null ? { n } : { n, seller };
      await story.reportUsage(event, `2026-01-${day}T00:00:00.000Z`, properties);
    }
    // The earliest event of each group is free. Each other one costs 10 % and 30.
    const expected = [
      [['a'], 80 - 20 + 60],
      [['b'], 40],
      [['é"\u0001'], 0],
      [[null], 90],
    ];
    let quotes: readonly UsageSoFar[] = [];
    const ofQuote = await listsDuring(async () => (quotes = await story.usage()));
    expect(quotes[0]?.groups.map(({ group, amount }) => [group, amount])).toEqual(expected);
    const ofRenewal = await listsDuring(() => story.advance('2026-02-01T00:00:00.000Z'));
    const [invoice] = await story.invoices();
    expect(invoice?.lines.map(({ amount }) => amount)).toEqual(expected.map(([, one]) => one));
    const body = {
      plan_id: plan.id,
      prices: [fee],
      from: '2026-01-01T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
      customer_ids: [story.customerId],
    };
    const ofSimulation = await listsDuring(async () => {
      const { text } = await engine.http.post('/v1/prices/simulations').send(body).expect(200);
      expect(text).toContain('"old_amount":250,"new_amount":250');
    });
    expect([ofQuote, ofRenewal, ofSimulation]).toEqual([1, 1, 1]);
    await story.verify();
  });

  it('reads the events of one timestamp with one query for each price', async () => {
    const story = await Story.begin(engine, '2026-01-01T00:00:00.000Z');
    const { id, event } = await story.meter();
    const fees = ['0.1', '0.2'].map((rate) => ({
      name: `Fee of ${rate}`,
      model: 'percentage',
      timing: 'in_arrears',
      meter_id: id,
      rate,
      free_units: '1',
    }));
    const plan = await story.planOf(fees);
    await story.subscribe(plan.id);
    await story.advance('2026-01-15T00:00:00.000Z');
    const timestamp = '2026-01-10T00:00:00.000Z';
    // The event that was stored first is the free one.
    await story.reportUsage(event, timestamp, { n: 1_000 });
    for (const batch of ['one', 'two']) {
      const events = Array.from({ length: 1_000 }, (_, number) => ({
        idempotency_key: `${batch}-${number}`,
        customer_id: story.customerId,
        event_name: event,
        timestamp,
        properties: { n: 10 },
      }));
      await engine.http.post('/v1/usage-events').send({ events }).expect(200);
    }
    const statements = await statementsDuring(() => story.advance('2026-02-01T00:00:00.000Z'));
    expect(statements.filter(isList)).toHaveLength(fees.length);
    // Reads 2,001 events a thousand at a time.
    expect(statements.filter((sql) => sql.startsWith('FETCH'))).toHaveLength(3 * fees.length);
    expect(await story.lines()).toEqual([
      [
        ['usage', '21000', 2_000],
        ['usage', '21000', 4_000],
      ],
    ]);
    await story.verify();
  });
});
