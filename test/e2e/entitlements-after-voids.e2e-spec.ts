import { Allowances, createEntitlement } from '../support/allowances';
import { EVENTS } from '../support/stored-events';
import { post, startTestApp, Story, type TestApp } from '../support/story';

const NOW = '2026-01-10T00:00:00.000Z';

describe('an entitlement whose usage was voided', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Subscribes a customer to a plan that allows 10 of a new meter. A second plan allows 2. */
  async function subscriber(reset: string) {
    const story = await Story.begin(engine, NOW);
    const meter = await story.meter();
    const { id: entitlementId, key } = await createEntitlement(engine, { meter_id: meter.id });
    const plans: string[] = [];
    for (const value of ['10', '2']) {
      const terms = { entitlement_id: entitlementId, value, reset };
      plans.push(await story.plan(0, { entitlements: [terms] }));
    }
    const [plan = '', smallerPlan = ''] = plans;
    const { id } = await story.subscribe(plan);
    const allowances = new Allowances(engine, story.customerId);
    const change = (planId: string) =>
      story.command(id, 'change', { plan_id: planId, when: 'now' });
    return {
      story,
      key,
      allowances,
      figures: () => allowances.figures(key),
      use: (n: number, at = NOW) => story.reportUsage(meter.event, at, { n }),
      void: (eventKey: string) =>
        post(engine, '/v1/usage-events/void', { idempotency_key: eventKey }),
      pause: () => story.command(id, 'pause'),
      resume: () => story.command(id, 'resume'),
      cancel: () => story.command(id, 'cancel', { when: 'now' }),
      subscribe: () => story.subscribe(plan),
      subscribeYearly: async () => {
        const terms = { entitlement_id: entitlementId, value: '10', reset: 'year' };
        await story.subscribe(await story.plan(0, { entitlements: [terms] }));
      },
      downgrade: () => change(smallerPlan),
      upgrade: () => change(plan),
      notified: async () => {
        const rows = await engine.database.query<{ percent: number }>(
          `SELECT (data->'object'->>'percent')::int AS percent FROM ${EVENTS}
          WHERE type = 'entitlement.threshold_reached' AND data->'object'->>'customer_id' = $1 ORDER BY id`,
          [story.customerId],
        );
        return rows.map(({ percent }) => percent);
      },
    };
  }

  type Step = 'pause' | 'resume' | 'downgrade' | 'upgrade' | 'cancel' | 'subscribe';

  it.each<[string, string, Step, Step]>([
    ['in a pause', 'period', 'pause', 'resume'],
    ['after a downgrade', 'period', 'downgrade', 'upgrade'],
    ['after the end of a subscription', 'month', 'cancel', 'subscribe'],
  ])(
    'gives nothing of the allowance again, whether voided %s or before that',
    async (_, reset, less, again) => {
      for (const isVoidedBefore of [true, false]) {
        const one = await subscriber(reset);
        await one.use(20);
        const voided = await one.use(20);
        const { id } = await one.allowances.grant(one.key, { value: '30' });
        expect(await one.figures()).toEqual(['40', '40', '0']);
        await post(engine, `${one.allowances.path(one.key)}/grants/${id}/void`);
        if (isVoidedBefore) await one.void(voided);
        await one[less]();
        if (!isVoidedBefore) await one.void(voided);
        await one[again]();
        expect(await one.figures()).toEqual(['20', '20', '0']);
      }
    },
  );

  it.each(['before the pause', 'in the pause'])(
    'loses no grant of a pause, although thresholds were reached (voided %s)',
    async (when) => {
      const one = await subscriber('period');
      const voided = await one.use(20);
      expect(await one.notified()).toEqual([80, 100]);
      if (when === 'before the pause') await one.void(voided);
      await one.pause();
      if (when === 'in the pause') await one.void(voided);
      expect(await one.figures()).toEqual(['0', '0', '0']);
      await one.allowances.grant(one.key, { value: '30' });
      expect(await one.allowances.of(one.key)).toMatchObject({ limit: '30', resets_at: null });
      await one.story.advance('2026-02-11T00:00:00.000Z');
      expect(await one.figures()).toEqual(['30', '0', '30']);
    },
  );

  it('notifies thresholds again after a pause, because the window ended with it', async () => {
    const one = await subscriber('period');
    await one.void(await one.use(20));
    await one.pause();
    await one.use(8);
    expect((await one.allowances.of(one.key)).used).toBe('0');
    await one.resume();
    expect(await one.figures()).toEqual(['10', '8', '2']);
    await one.use(2);
    expect(await one.notified()).toEqual([80, 100, 80, 100]);
  });

  it('notifies the thresholds of a later window, although it starts with the former one', async () => {
    const one = await subscriber('month');
    await one.void(await one.use(20));
    await one.cancel();
    await one.story.advance('2026-08-10T00:00:00.000Z');
    await one.subscribeYearly();
    await one.use(20, '2026-08-10T00:00:00.000Z');
    expect(await one.figures()).toEqual(['10', '20', '0']);
    expect(await one.notified()).toEqual([80, 100, 80, 100]);
  });
});
