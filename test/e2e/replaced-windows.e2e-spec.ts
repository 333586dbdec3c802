import { Allowances, createEntitlement } from '../support/allowances';
import { createMeter } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

let made = 0;

describe('a window that another one replaces before its end', () => {
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

  /**
   * Creates plans that allow 10, or the quantity after the reset, with a hard limit unless `soft` follows, or `nothing`, and
   * a customer on a test clock with a subscription to the first.
   */
  async function subscribed(
    resets: readonly string[],
    terms: Readonly<Record<string, unknown>> = {},
  ) {
    const entitlement = await createEntitlement(engine, terms);
    const plans: string[] = [];
    for (const [reset, value = '10', limit] of resets.map((text) => text.split(' '))) {
      made += 1;
      const isHard = limit !== 'soft';
      const terms = { entitlement_id: entitlement.id, value, is_hard_limit: isHard, reset };
      const plan = { code: `replaced-${made}`, name: 'P', currency: 'USD', interval: 'month' };
      const entitlements = reset === 'nothing' ? [] : [terms];
      plans.push((await post('plans', { ...plan, prices: [], entitlements })).id);
    }
    const clock = await post('test-clocks', { name: 'C', now: '2026-01-31T10:00:00.000Z' });
    const customer = await post('customers', { name: 'Ada', test_clock_id: clock.id });
    const subscribe = (plan = 0) =>
      post('subscriptions', { customer_id: customer.id, plan_id: plans[plan] });
    const { id } = await subscribe();
    const allowances = new Allowances(engine, customer.id);
    return {
      id,
      plans,
      subscribe,
      key: entitlement.key,
      allowances,
      advance: (to: string) => post(`test-clocks/${clock.id}/advance`, { to }),
      moveTo: (plan: number) =>
        post(`subscriptions/${id}/change`, { plan_id: plans[plan], when: 'now' }),
      consume: async (quantity: string) => {
        made += 1;
        const path = `${allowances.path(entitlement.key)}/consume`;
        const { body } = await engine.http
          .post(path)
          .send({ quantity, idempotency_key: `replaced-${made}` });
        return (body as { readonly allowed: boolean }).allowed;
      },
      report: (event: string, timestamp: string, properties = {}) => {
        made += 1;
        const key = { idempotency_key: `replaced-${made}`, customer_id: customer.id };
        return post('usage-events', { ...key, event_name: event, timestamp, properties });
      },
      events: async () => {
        const path = `/v1/events?customer_id=${customer.id}&limit=100&type=entitlement.*`;
        const { data } = (await engine.http.get(path)).body as {
          readonly data: readonly { readonly type: string }[];
        };
        return data.map(({ type }) => type).sort();
      },
    };
  }

  it('has counted what the other one counts as well: changes of plans do not fill a hard limit up again', async () => {
    const one = await subscribed(['period', 'month', 'never']);
    await one.advance('2026-02-10T00:00:00.000Z');
    expect(await one.consume('10')).toBe(true);
    for (const plan of [1, 0, 2, 1, 2, 0]) {
      await one.moveTo(plan);
      expect(await one.consume('1')).toBe(false);
      expect(await one.allowances.figures(one.key)).toEqual(['10', '10', '0']);
    }
    expect(await one.events()).toEqual([
      'entitlement.limit_reached',
      'entitlement.threshold_reached',
      'entitlement.threshold_reached',
    ]);
  });

  it('leaves out what was consumed before the other one', async () => {
    const one = await subscribed(['period', 'month']);
    expect(await one.consume('6')).toBe(true);
    await one.advance('2026-02-10T00:00:00.000Z');
    expect(await one.consume('3')).toBe(true);
    await one.moveTo(1);
    expect(await one.allowances.figures(one.key)).toEqual(['10', '3', '7']);
    await one.moveTo(0);
    expect(await one.allowances.figures(one.key)).toEqual(['10', '9', '1']);
  });

  it.each([false, true])(
    'has counted the usage since its start if it follows at the end of the period (with a grant: %s)',
    async (isGranted) => {
      const one = await subscribed(['period', 'never']);
      if (isGranted) await one.allowances.grant(one.key, { value: '5', rollover: { max: '5' } });
      expect(await one.consume('8')).toBe(true);
      const change = { plan_id: one.plans[1], when: 'period_end' };
      await post(`subscriptions/${one.id}/change`, change);
      await one.advance('2026-03-01T00:00:00.000Z');
      const expected = isGranted ? ['15', '8', '7'] : ['10', '8', '2'];
      expect(await one.allowances.figures(one.key)).toEqual(expected);
    },
  );

  it.each([false, true])(
    'does not take usage from a grant twice (with a meter: %s)',
    async (isMetered) => {
      made += 1;
      const event = `replaced-${made}`;
      const meter = { event_name: event, aggregation: 'sum', value_property: 'quantity' };
      const one = await subscribed(
        ['never', 'month'],
        isMetered ? { meter_id: await createMeter(engine, meter) } : {},
      );
      await one.advance('2026-02-10T00:00:00.000Z');
      await one.allowances.grant(one.key, { value: '5' });
      expect(await one.consume('12')).toBe(true);
      expect(await one.allowances.figures(one.key)).toEqual(['15', '12', '3']);
      await one.moveTo(1);
      expect(await one.allowances.figures(one.key)).toEqual(['15', '12', '3']);
    },
  );

  describe.each([false, true])('after usage of a grant alone (with a meter: %s)', (isMetered) => {
    async function paused(resets: readonly string[]) {
      made += 1;
      const meter = { event_name: `replaced-${made}`, aggregation: 'sum', value_property: 'n' };
      const terms = isMetered ? { meter_id: await createMeter(engine, meter) } : {};
      const one = await subscribed(resets, terms);
      await post(`subscriptions/${one.id}/pause`, {});
      return one;
    }

    it('leaves the allowance of a resumed subscription whole', async () => {
      const one = await paused(['period']);
      await one.allowances.grant(one.key, { value: '20' });
      expect(await one.consume('8')).toBe(true);
      await post(`subscriptions/${one.id}/resume`, {});
      expect(await one.allowances.figures(one.key)).toEqual(['30', '8', '22']);
    });

    it('leaves the allowance of a calendar month that began before the grant whole', async () => {
      const one = await paused(['period', 'month']);
      await one.advance('2026-02-10T00:00:00.000Z');
      await one.allowances.grant(one.key, { value: '20' });
      expect(await one.consume('8')).toBe(true);
      await one.subscribe(1);
      expect(await one.allowances.figures(one.key)).toEqual(['30', '8', '22']);
    });
  });

  describe.each([false, true])('if it started earlier (with a meter: %s)', (isMetered) => {
    async function withGrant(resets: readonly string[], value: string) {
      made += 1;
      const event = `replaced-${made}`;
      const meter = { event_name: event, aggregation: 'sum', value_property: 'n' };
      const terms = isMetered ? { meter_id: await createMeter(engine, meter) } : {};
      const one = await subscribed(resets, terms);
      await one.advance('2026-03-01T12:00:00.000Z');
      await one.allowances.grant(one.key, { value, rollover: { max: '100' } });
      const advanceTo = (day: number) => one.advance(`2026-03-0${day}T12:00:00.000Z`);
      return {
        ...one,
        event,
        advanceTo,
        consumeDaily: async (quantity: string, days: readonly number[]) => {
          for (const day of days) {
            await advanceTo(day);
            expect(await one.consume(quantity)).toBe(true);
          }
        },
        shows: async (figures: readonly string[], remaining: string) => {
          expect(await one.allowances.figures(one.key)).toEqual(figures);
          expect(await one.allowances.grants(one.key)).toEqual([['active', remaining]]);
        },
      };
    }

    it('takes no usage from a grant that the former plan covered', async () => {
      const one = await withGrant(['day', 'month 20'], '30');
      await one.consumeDaily('10', [2, 3, 4, 5, 6]);
      await one.moveTo(1);
      await one.shows(['80', '50', '30'], '30');
      expect(await one.consume('31')).toBe(false);
      expect(await one.consume('30')).toBe(true);
      await one.shows(['80', '80', '0'], '0');
    });

    it('takes no usage from a grant a second time', async () => {
      const one = await withGrant(['day', 'month 20', 'month 100'], '30');
      await one.consumeDaily('12', [2, 3, 4]);
      await one.moveTo(1);
      await one.shows(['60', '36', '24'], '24');
      // The 2 of the last day stay with the grant; the other 34 use the larger allowance.
      await one.moveTo(2);
      await one.shows(['126', '36', '90'], '24');
    });

    it.each([
      ['a pause', 'pause', {}],
      ['an end', 'cancel', { when: 'now' }],
    ])('takes nothing from a grant after %s of the older subscription', async (_, way, body) => {
      const one = await withGrant(['day', 'month 5'], '50');
      await one.subscribe(1);
      await one.consumeDaily('15', [2, 3, 4]);
      await one.shows(['65', '15', '50'], '50');
      await post(`subscriptions/${one.id}/${way}`, body);
      await one.shows(['95', '45', '50'], '50');
      if (way === 'cancel') return;
      await post(`subscriptions/${one.id}/resume`, {});
      await one.shows(['65', '15', '50'], '50');
    });

    it('takes nothing from a grant by changes back and forth', async () => {
      const one = await withGrant(['month', 'day'], '50');
      expect(await one.consume('15')).toBe(true);
      for (const day of [2, 3, 4, 5]) {
        await one.advanceTo(day);
        await one.moveTo(1);
        await one.shows(['55', '0', '55'], '45');
        await one.moveTo(0);
        await one.shows(['60', '15', '45'], '45');
      }
      await one.moveTo(1);
      expect(await one.consume('12')).toBe(true);
      await one.moveTo(0);
      await one.shows(['70', '27', '43'], '43');
    });
  });

  it.each([true, false])(
    'takes overage of earlier days from no later grant (checked before: %s)',
    async (isChecked) => {
      const one = await subscribed(['day 10 soft', 'month 12']);
      await one.advance('2026-03-02T12:00:00.000Z');
      expect(await one.consume('15')).toBe(true);
      await one.advance('2026-03-05T12:00:00.000Z');
      if (isChecked) expect(await one.allowances.figures(one.key)).toEqual(['10', '0', '10']);
      await one.moveTo(1);
      expect(await one.allowances.figures(one.key)).toEqual(['15', '15', '0']);
      await one.allowances.grant(one.key, { value: '5' });
      expect(await one.allowances.figures(one.key)).toEqual(['20', '15', '5']);
    },
  );

  it.each([true, false])(
    'notifies thresholds again that an earlier day had reached (checked after that day: %s)',
    async (isChecked) => {
      const one = await subscribed(['day', 'month 12']);
      await one.advance('2026-02-02T12:00:00.000Z');
      expect(await one.consume('10')).toBe(true);
      const ofDay = await one.events();
      await one.advance('2026-02-03T12:00:00.000Z');
      if (isChecked) expect(await one.allowances.figures(one.key)).toEqual(['10', '0', '10']);
      await one.moveTo(1);
      expect(await one.consume('1')).toBe(true);
      expect((await one.events()).length).toBe(ofDay.length + 1);
    },
  );

  it('takes overage of the same day from a later grant', async () => {
    const one = await subscribed(['day 10 soft', 'month 12']);
    await one.advance('2026-03-02T12:00:00.000Z');
    expect(await one.consume('15')).toBe(true);
    await one.moveTo(1);
    expect(await one.allowances.figures(one.key)).toEqual(['12', '15', '0']);
    await one.allowances.grant(one.key, { value: '5' });
    expect(await one.allowances.figures(one.key)).toEqual(['17', '15', '2']);
  });

  describe('after a calendar week with a grant', () => {
    const changes: readonly [string, (one: Awaited<ReturnType<typeof subscribed>>) => unknown][] = [
      ['a pause', ({ id }) => post(`subscriptions/${id}/pause`, {})],
      ['an end', ({ id }) => post(`subscriptions/${id}/cancel`, { when: 'now' })],
      ['another plan', ({ moveTo }) => moveTo(1)],
    ];

    it.each(changes)('is the same after %s whether it was checked before', async (_, change) => {
      const shown: unknown[] = [];
      for (const isChecked of [true, false]) {
        const one = await subscribed(['week', 'month']);
        await one.advance('2026-02-01T12:00:00.000Z');
        const rollover = { max: '10' };
        await one.allowances.grant(one.key, { value: '30', rollover });
        expect(await one.consume('12')).toBe(true);
        await one.advance('2026-02-02T12:00:00.000Z');
        if (isChecked) {
          expect(await one.allowances.figures(one.key)).toEqual(['20', '0', '20']);
        }
        await change(one);
        const { limit, used, remaining, resets_at } = await one.allowances.of(one.key);
        shown.push([limit, used, remaining, resets_at]);
      }
      expect(shown[1]).toEqual(shown[0]);
    });
  });

  describe.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])(
    'after a time when nothing gave the entitlement (with a meter: %s, checked then: %s)',
    (isMetered, isChecked) => {
      async function consumed(resets: readonly string[], days: readonly number[]) {
        made += 1;
        const event = `replaced-${made}`;
        const meter = { event_name: event, aggregation: 'sum', value_property: 'n' };
        const terms = isMetered ? { meter_id: await createMeter(engine, meter) } : {};
        const one = await subscribed(resets, terms);
        for (const day of days) {
          await one.advance(`2026-03-0${day}T12:00:00.000Z`);
          expect(await one.consume('10')).toBe(true);
        }
        return {
          ...one,
          /** Lets the time pass. Reports 4 units on the day before `to`, if the entitlement has a meter. */
          waitUntil: async (to: string, reportAt: string) => {
            await one.advance(reportAt);
            if (isMetered) await one.report(event, reportAt, { n: 4 });
            if (isChecked) {
              expect(await one.allowances.of(one.key)).toMatchObject({ limit: '0', used: '0' });
            }
            await one.advance(to);
          },
        };
      }
      const gap = isMetered ? 4 : 0;

      it.each([
        ['an unused', '2026-03-06T12:00:00.000Z'],
        ['a used', '2026-03-05T13:00:00.000Z'],
      ])('keeps the usage of days covered, if it ended on %s day', async (_, endAt) => {
        const one = await consumed(['day', 'month 20'], [1, 2, 3, 4, 5]);
        await one.advance(endAt);
        await post(`subscriptions/${one.id}/cancel`, { when: 'now' });
        await one.waitUntil('2026-03-10T12:00:00.000Z', '2026-03-09T12:00:00.000Z');
        await one.subscribe(1);
        expect(await one.allowances.figures(one.key)).toEqual(['50', `${50 + gap}`, '0']);
        await one.allowances.grant(one.key, { value: '30' });
        const figures = ['80', `${50 + gap}`, `${30 - gap}`];
        expect(await one.allowances.figures(one.key)).toEqual(figures);
      });

      it('keeps the usage of an ended window covered', async () => {
        const one = await consumed(['month 100', 'nothing', 'never 8'], [5]);
        await one.advance('2026-03-20T12:00:00.000Z');
        await one.moveTo(1);
        await one.waitUntil('2026-04-08T12:00:00.000Z', '2026-04-07T12:00:00.000Z');
        await one.moveTo(2);
        expect(await one.allowances.figures(one.key)).toEqual(['10', `${10 + gap}`, '0']);
        await one.allowances.grant(one.key, { value: '20' });
        const figures = ['30', `${10 + gap}`, `${20 - gap}`];
        expect(await one.allowances.figures(one.key)).toEqual(figures);
      });
    },
  );

  it('begins with a later grant if nothing gave the entitlement in between', async () => {
    made += 1;
    const event = `replaced-${made}`;
    const meter = { event_name: event, aggregation: 'count' };
    const one = await subscribed(['day'], { meter_id: await createMeter(engine, meter) });
    expect(await one.consume('1')).toBe(true);
    await one.allowances.grant(one.key, { value: '5' });
    await post(`subscriptions/${one.id}/cancel`, { when: 'now' });
    await one.advance('2026-02-03T00:00:00.000Z');
    await one.report(event, '2026-02-02T00:00:00.000Z');
    await one.allowances.grant(one.key, { value: '5' });
    expect(await one.allowances.figures(one.key)).toEqual(['5', '0', '5']);
  });

  it('does not take usage that a subscription covered from a grant', async () => {
    const one = await subscribed(['period', 'month']);
    await one.advance('2026-02-10T00:00:00.000Z');
    await one.subscribe(1);
    await one.allowances.grant(one.key, { value: '5', rollover: { max: '5' } });
    expect(await one.consume('18')).toBe(true);
    await post(`subscriptions/${one.id}/pause`, {});
    expect(await one.allowances.figures(one.key)).toEqual(['23', '18', '5']);
  });

  it('does not notify thresholds again', async () => {
    made += 1;
    const event = `replaced-${made}`;
    const one = await subscribed(['period', 'month'], {
      meter_id: await createMeter(engine, { event_name: event, aggregation: 'count' }),
    });
    await one.advance('2026-02-10T00:00:00.000Z');
    for (let index = 0; index < 9; index += 1) expect(await one.consume('1')).toBe(true);
    for (const plan of [1, 0, 1, 0]) await one.moveTo(plan);
    expect(await one.allowances.figures(one.key)).toEqual(['10', '9', '1']);
    expect(await one.events()).toEqual(['entitlement.threshold_reached']);
  });

  it('ends a grant that lapses at the instant of the change, not at its own earlier start', async () => {
    const one = await subscribed(['period', 'month']);
    await one.advance('2026-02-10T00:00:00.000Z');
    await one.allowances.grant(one.key, { value: '5' });
    await one.advance('2026-02-11T00:00:00.000Z');
    await one.moveTo(1);
    const { body } = await engine.http.get(`${one.allowances.path(one.key)}/grants`);
    const [grant] = (body as { readonly data: readonly object[] }).data;
    expect(grant).toMatchObject({
      status: 'lapsed',
      created_at: '2026-02-10T00:00:00.000Z',
      ended_at: '2026-02-11T00:00:00.000Z',
    });
  });

  it('counts the same after a pause of the subscription that decides on the window', async () => {
    const one = await subscribed(['period', 'month']);
    await one.advance('2026-02-10T00:00:00.000Z');
    await one.subscribe(1);
    expect(await one.consume('18')).toBe(true);
    await post(`subscriptions/${one.id}/pause`, {});
    expect(await one.allowances.figures(one.key)).toEqual(['18', '18', '0']);
    await post(`subscriptions/${one.id}/resume`, {});
    expect(await one.allowances.figures(one.key)).toEqual(['20', '18', '2']);
  });

  it.each([false, true])(
    'covers usage of days whose windows were not opened before the end (late: %s)',
    async (isLate) => {
      made += 1;
      const event = `replaced-${made}`;
      const meter = { event_name: event, aggregation: 'sum', value_property: 'n' };
      const one = await subscribed(['day', 'month 20'], {
        meter_id: await createMeter(engine, meter),
      });
      await one.advance('2026-03-01T12:00:00.000Z');
      expect(await one.consume('10')).toBe(true);
      // The background work that opens the windows of the next days is behind.
      if (isLate) await engine.database.query('UPDATE customer_entitlement SET due_at = NULL');
      for (const day of [2, 3, 4, 5]) {
        await one.advance(`2026-03-0${day}T12:00:00.000Z`);
        await one.report(event, `2026-03-0${day}T12:00:00.000Z`, { n: 10 });
      }
      await one.advance('2026-03-05T13:00:00.000Z');
      await post(`subscriptions/${one.id}/cancel`, { when: 'now' });
      await one.advance('2026-03-10T12:00:00.000Z');
      await one.subscribe(1);
      await one.allowances.grant(one.key, { value: '30' });
      expect(await one.allowances.figures(one.key)).toEqual(['80', '50', '30']);
    },
  );
});
