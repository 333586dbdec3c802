import { startTestApp, Story, type TestApp } from '../support/story';

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
