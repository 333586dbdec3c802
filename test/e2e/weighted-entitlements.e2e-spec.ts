import { Allowances, createAddonWith, createEntitlement } from '../support/allowances';
import { createMeter } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

let made = 0;

describe('an entitlement that is counted by a weighted sum', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function post<Body = { readonly id: string }>(path: string, body: object): Promise<Body> {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect(answer.status).toBeLessThan(300);
    return answer.body as Body;
  }

  /** Subscribes a customer on a test clock to a plan for each reset, with a hard limit. */
  async function subscribed(
    now: string,
    resets: readonly (readonly [reset: string, value: string])[],
    isRecurring = false,
  ) {
    made += 1;
    const event = `held-${made}`;
    const meterId = await createMeter(engine, {
      key: event,
      event_name: event,
      aggregation: 'weighted_sum',
      value_property: 'gb',
      is_recurring: isRecurring,
    });
    const { id: entitlementId, key } = await createEntitlement(engine, { meter_id: meterId });
    const clock = await post('test-clocks', { name: 'Held', now });
    const customer = await post('customers', { name: 'Ada', test_clock_id: clock.id });
    const subscribe = async (reset: string, value: string) => {
      made += 1;
      const plan = { code: `held-${made}`, name: 'Storage', currency: 'USD', interval: 'month' };
      const terms = { entitlement_id: entitlementId, value, is_hard_limit: true, reset };
      const { id } = await post('plans', { ...plan, prices: [], entitlements: [terms] });
      return (await post('subscriptions', { customer_id: customer.id, plan_id: id })).id;
    };
    const subscriptions: string[] = [];
    for (const [reset, value] of resets) subscriptions.push(await subscribe(reset, value));
    const allowances = new Allowances(engine, customer.id);
    return {
      subscriptions,
      subscribe,
      entitlementId,
      state: () => allowances.of(key),
      grant: (terms: object) => allowances.grant(key, { value: '5', ...terms }),
      grants: () => allowances.grants(key),
      figures: () => allowances.figures(key),
      advance: (to: string) => post(`test-clocks/${clock.id}/advance`, { to }),
      store: async (timestamp: string, gb: number) => {
        made += 1;
        const idempotency_key = `held-${made}`;
        const named = { idempotency_key, customer_id: customer.id, event_name: event };
        await post('usage-events', { ...named, timestamp, properties: { gb } });
        return idempotency_key;
      },
      /** Replaces the stored usage of the balance. */
      setUsed: (used: string) =>
        engine.database.query(
          'UPDATE customer_entitlement SET used = $1, covered = $1 WHERE customer_id = $2',
          [used, customer.id],
        ),
      notified: async () => {
        const path = `/v1/events?customer_id=${customer.id}&limit=100&type=entitlement.*`;
        const { data } = (await engine.http.get(path)).body as {
          readonly data: readonly {
            readonly type: string;
            readonly data: { readonly object: { readonly used?: string } };
          }[];
        };
        return data;
      },
    };
  }

  const EXPIRING = { priority: 1, expires_at: '2026-01-25T00:00:00.000Z' };
  const ROLLING_OVER = { priority: 2, rollover: { max: '5' } };

  it.each([false, true])(
    'keeps what an expired grant covered in the whole window, recurring %j',
    async (isRecurring) => {
      const resets = [['period', '2']] as const;
      const held = await subscribed('2026-01-01T00:00:00Z', resets, isRecurring);
      await held.grant(EXPIRING);
      await held.grant(ROLLING_OVER);
      await held.advance('2026-01-17T00:00:00Z');
      // Held for half of January.
      await held.store('2026-01-16T12:00:00Z', 10);
      expect(await held.figures()).toEqual(['12', '5', '7']);
      const covered = [
        ['active', '2'],
        ['active', '5'],
      ];
      expect(await held.grants()).toEqual(covered);
      await held.advance('2026-01-26T00:00:00Z');
      expect(await held.figures()).toEqual(['10', '5', '5']);
      expect(await held.grants()).toEqual([
        ['expired', null],
        ['active', '5'],
      ]);
      await held.advance('2026-02-02T00:00:00Z');
      // A recurring meter carries the 10 into February: the plan covers 2 and the grant 5.
      const next = isRecurring ? ['7', '10', '0'] : ['7', '0', '7'];
      expect(await held.figures()).toEqual(next);
      expect((await held.grants())[1]).toEqual(['active', isRecurring ? '0' : '5']);
    },
  );

  it('takes nothing from an expired grant for events after its expiry', async () => {
    const held = await subscribed('2026-01-01T00:00:00Z', [['period', '2']]);
    await held.grant(EXPIRING);
    await held.grant(ROLLING_OVER);
    await held.advance('2026-01-24T12:00:00Z');
    await held.store('2026-01-16T12:00:00Z', 10);
    await held.store('2026-01-25T06:00:00Z', 12.4);
    expect(await held.figures()).toEqual(['12', '7.7', '4.3']);
    await held.advance('2026-01-26T00:00:00Z');
    expect(await held.figures()).toEqual(['10', '7.7', '2.3']);
    expect((await held.grants())[1]).toEqual(['active', '2.3']);
  });

  it('keeps it in a window without an end', async () => {
    const held = await subscribed('2026-01-01T00:00:00Z', [['never', '20']]);
    await held.grant({ expires_at: '2026-09-01T00:00:00Z' });
    await held.advance('2026-06-02T00:00:00Z');
    await held.store('2026-06-01T00:00:00Z', 10);
    expect(await held.figures()).toEqual(['25', '10', '15']);
    await held.store('2026-06-02T00:00:00Z', 13);
    expect(await held.figures()).toEqual(['25', '23', '2']);
    await held.advance('2026-09-02T00:00:00Z');
    expect(await held.figures()).toEqual(['23', '23', '0']);
    expect(await held.grants()).toEqual([['expired', null]]);
  });

  it('keeps what a grant covered when a window without an end replaces the window', async () => {
    const resets = [
      ['period', '1'],
      ['never', '1'],
    ] as const;
    const held = await subscribed('2025-12-01T00:00:00Z', resets);
    await held.grant(ROLLING_OVER);
    await held.advance('2026-01-17T00:00:00Z');
    await held.store('2026-01-16T12:00:00Z', 10);
    expect(await held.figures()).toEqual(['7', '5', '2']);
    await post(`subscriptions/${held.subscriptions[0]}/cancel`, { when: 'period_end' });
    await held.advance('2026-02-02T00:00:00Z');
    // The plans had covered 2 and the grant 3.
    expect(await held.figures()).toEqual(['7', '10', '0']);
  });

  it('takes nothing from a grant for earlier days when a month replaces a day', async () => {
    const resets = [
      ['day', '40'],
      ['month', '1'],
    ] as const;
    const held = await subscribed('2026-01-01T00:00:00Z', resets, true);
    await held.grant(ROLLING_OVER);
    await held.advance('2026-01-14T12:00:00Z');
    // 31 held for 10 of 31 days.
    await held.store('2026-01-03T00:00:00Z', 31);
    await held.store('2026-01-13T00:00:00Z', -31);
    expect(await held.figures()).toEqual(['46', '0', '46']);
    await post(`subscriptions/${held.subscriptions[0]}/pause`, {});
    expect(await held.figures()).toEqual(['15', '10', '5']);
  });

  it.each([false, true])(
    'reaches the limit of a window without an end, recurring %j',
    async (isRecurring) => {
      const resets = [['never', '20']] as const;
      const held = await subscribed('2026-01-01T00:00:00Z', resets, isRecurring);
      await held.store('2025-12-31T12:00:00Z', 1);
      await held.advance('2026-06-02T00:00:00Z');
      const key = await held.store('2026-06-01T00:00:00Z', isRecurring ? 18.5 : 19.5);
      await held.store('2026-06-02T00:00:00Z', 0.5);
      expect(await held.figures()).toEqual(['20', '20', '0']);
      expect((await held.notified()).map(({ type }) => type).sort()).toEqual([
        'entitlement.limit_reached',
        'entitlement.threshold_reached',
        'entitlement.threshold_reached',
      ]);
      await post('usage-events/void', { idempotency_key: key });
      expect(await held.figures()).toEqual(
        isRecurring ? ['20', '1.5', '18.5'] : ['20', '0.5', '19.5'],
      );
    },
  );

  it('corrects a stored usage of a window without an end, which a former version divided', async () => {
    const held = await subscribed('2026-01-01T00:00:00Z', [['never', '20']]);
    await held.advance('2026-06-02T00:00:00Z');
    await held.store('2026-06-01T00:00:00Z', 19);
    await held.setUsed('18.999');
    await held.store('2026-06-01T00:00:00Z', 1);
    expect(await held.figures()).toEqual(['20', '20', '0']);
    await held.setUsed('19.998963');
    await held.grant({});
    expect(await held.figures()).toEqual(['25', '20', '5']);
  });

  describe('that holds 10 for 21 of 31 days', () => {
    const HELD_FROM = '2026-01-11T00:00:00Z';
    const USED = '6.774193548387096774193548387097';

    it('is rounded to 30 digits, also after a link changed and with a grant', async () => {
      const held = await subscribed('2026-01-01T00:00:00Z', [['period', '2']]);
      await held.advance('2026-01-17T00:00:00Z');
      await held.store(HELD_FROM, 10);
      await createAddonWith(engine, held.entitlementId, { value: '1' });
      for (let check = 0; check < 2; check += 1)
        expect(await held.figures()).toEqual(['2', USED, '0']);
      const remaining = '0.225806451612903225806451612903';
      const grant = await held.grant(ROLLING_OVER);
      expect(grant.remaining).toBe(remaining);
      expect(await held.grants()).toEqual([['active', remaining]]);
      await held.advance('2026-02-02T00:00:00Z');
      const { limit, sources } = await held.state();
      expect([limit, sources[1]?.value]).toEqual(['2.225806451612903225806451612903', remaining]);
    });

    it('is rounded to 30 digits in the events of its thresholds', async () => {
      const held = await subscribed('2026-01-17T00:00:00Z', []);
      await held.store(HELD_FROM, 10);
      await held.subscribe('month', '5');
      const used = (await held.notified()).map(({ data: { object } }) => object.used);
      expect(used).toEqual([USED, USED, USED]);
    });
  });
});
