import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import {
  Allowances,
  createAddonWith,
  createEntitlement,
  type EntitlementBody,
  type GrantBody,
} from '../support/allowances';
import { createCustomer } from '../support/billing';
import { checkedClient } from '../support/checked-client';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { EVENTS } from '../support/stored-events';

const RUN_TS = join(__dirname, '../support/run-ts.cjs');
const API = join(__dirname, '../support/api-process.ts');
const UNKNOWN_CUSTOMER = 'cus_01h455vb4pex5vsknk084sn02q';
const UNKNOWN_GRANT = 'grant_01h455vb4pex5vsknk084sn02q';

describe('an entitlement of a customer', () => {
  let engine: TestApp;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp({ plantsObjects: true });
  });

  afterAll(() => engine.close());

  async function planWith(entitlements: readonly object[]): Promise<string> {
    made += 1;
    const answer = await engine.http.post('/v1/plans').send({
      code: `allowing-${made}`,
      name: 'Plan',
      currency: 'USD',
      interval: 'month',
      prices: [],
      entitlements,
    });
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  async function subscribe(customerId: string, planId: string, fields = {}): Promise<string> {
    const answer = await engine.http
      .post('/v1/subscriptions')
      .send({ customer_id: customerId, plan_id: planId, ...fields });
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  /** Subscribes a customer to a plan with the given allowance of a new metered entitlement. */
  async function customerWith(
    value: string | null,
    fields: Readonly<Record<string, unknown>> = {},
    entitlement: Readonly<Record<string, unknown>> = {},
  ) {
    const { id, key } = await createEntitlement(engine, entitlement);
    const planId = await planWith([{ entitlement_id: id, value, ...fields }]);
    const customerId = await createCustomer(engine);
    const subscriptionId = await subscribe(customerId, planId);
    const allowances = new Allowances(engine, customerId);
    return { id, key, planId, customerId, subscriptionId, allowances };
  }

  it('is shown with every field', async () => {
    const { key, planId, subscriptionId, allowances } = await customerWith('100');
    expect(await allowances.of(key)).toEqual({
      key,
      type: 'metered',
      has_access: true,
      limit: '100',
      used: '0',
      remaining: '100',
      overage_allowed: false,
      resets_at: '2026-04-01T09:30:00.000Z',
      sources: [
        {
          type: 'plan',
          id: planId,
          subscription_id: subscriptionId,
          value: '100',
          is_counted: true,
        },
      ],
    });
    // The second check reads the cached balance.
    expect((await allowances.of(key)).sources).toHaveLength(1);
  });

  it.each([
    ['boolean', null, { has_access: true, limit: null, used: null, remaining: null }],
    ['static', '5', { has_access: true, limit: '5', used: null, remaining: null }],
    ['static', '0', { has_access: false, limit: '0', used: null, remaining: null }],
    ['metered', '5', { has_access: true, limit: '5', used: '0', remaining: '5' }],
    ['metered', '0', { has_access: false, limit: '0', used: '0', remaining: '0' }],
    ['metered', null, { has_access: true, limit: null, used: '0', remaining: null }],
  ])('of a %s entitlement with %s', async (type, value, expected) => {
    const { key, allowances } = await customerWith(value, {}, { type });
    expect(await allowances.of(key)).toMatchObject(expected);
  });

  it('gives no access without a plan, add-on or grant', async () => {
    const { key } = await createEntitlement(engine);
    const allowances = new Allowances(engine, await createCustomer(engine));
    expect(await allowances.of(key)).toEqual({
      key,
      type: 'metered',
      has_access: false,
      limit: '0',
      used: '0',
      remaining: '0',
      overage_allowed: false,
      resets_at: null,
      sources: [],
    });
    expect(await allowances.consume(key, '1')).toMatchObject({ allowed: false, used: '0' });
  });

  it('is not found for an unknown key, an unknown customer, and one that was deleted', async () => {
    const { key, customerId, allowances } = await customerWith('1');
    for (const [path, code] of [
      [allowances.path('no-such-key'), 'entitlement_key_not_found'],
      [`/v1/customers/${UNKNOWN_CUSTOMER}/entitlements/${key}`, 'customer_not_found'],
      [`/v1/customers/nobody/entitlements/${key}`, 'customer_not_found'],
    ] as const) {
      const body = { quantity: '1', idempotency_key: 'a' };
      for (const answer of [
        await engine.http.get(path),
        await engine.http.post(`${path}/consume`).send(body),
        await engine.http.get(`${path}/grants`),
        await engine.http.post(`${path}/grants`).send({ value: '1' }),
      ]) {
        expect({
          path,
          status: answer.status,
          code: (answer.body as { code: string }).code,
        }).toEqual({ path, status: 404, code });
      }
    }
    expect((await allowances.of(key)).has_access).toBe(true);
    expect((await engine.http.delete(`/v1/customers/${customerId}`)).status).toBe(204);
    expect((await engine.http.get(allowances.path(key))).status).toBe(404);
    const consumed = await engine.http
      .post(`${allowances.path(key)}/consume`)
      .send({ quantity: '1', idempotency_key: 'a' });
    expect(consumed.status).toBe(404);
  });

  it('is purged with the test clock of the customer', async () => {
    const clock = await engine.http
      .post('/v1/test-clocks')
      .send({ name: 'Short', now: '2026-03-01T00:00:00Z' });
    const { id: clockId } = clock.body as { id: string };
    const { id, key } = await createEntitlement(engine);
    const customerId = await createCustomer(engine, { test_clock_id: clockId });
    await subscribe(customerId, await planWith([{ entitlement_id: id, value: '10' }]));
    const allowances = new Allowances(engine, customerId);
    await allowances.grant(key, { value: '5' });
    await allowances.consume(key, '12');
    expect((await engine.http.delete(`/v1/test-clocks/${clockId}`)).status).toBe(204);
    expect((await engine.http.get(allowances.path(key))).status).toBe(404);
  });

  it('is listed page by page, newest first, and only if the customer has it', async () => {
    const feature = await createEntitlement(engine, { type: 'boolean' });
    const calls = await createEntitlement(engine);
    const gift = await createEntitlement(engine, { type: 'static' });
    const planId = await planWith([
      { entitlement_id: feature.id },
      { entitlement_id: calls.id, value: '7' },
    ]);
    const customerId = await createCustomer(engine);
    const path = `/v1/customers/${customerId}/entitlements`;
    expect((await engine.http.get(path)).body).toEqual({ data: [], next_cursor: null });
    await subscribe(customerId, planId);
    await new Allowances(engine, customerId).grant(gift.key, { value: '2' });
    const first = (await engine.http.get(`${path}?limit=2`)).body as {
      data: EntitlementBody[];
      next_cursor: string;
    };
    expect(first.data.map(({ key }) => key)).toEqual([gift.key, calls.key]);
    const second = await engine.http.get(`${path}?limit=2&cursor=${first.next_cursor}`);
    expect(second.body).toMatchObject({ data: [{ key: feature.key }], next_cursor: null });
    expect((await engine.http.get(`/v1/customers/${UNKNOWN_CUSTOMER}/entitlements`)).status).toBe(
      404,
    );
  });

  describe('changes in the commit of', () => {
    it('a transaction, which checks do not wait for', async () => {
      const { allowances, key, customerId } = await customerWith('10');
      await engine.database.transaction(async () => {
        await engine.database.query(
          'UPDATE customer_access SET version = version + 1 WHERE customer_id = $1',
          [customerId],
        );
        expect(await allowances.figures(key)).toEqual(['10', '0', '10']);
      });
    });

    it('a new, changed and deleted link of an add-on', async () => {
      const { id, key } = await createEntitlement(engine);
      const planId = await planWith([{ entitlement_id: id, value: '100' }]);
      const other = await createEntitlement(engine);
      const { addonId } = await createAddonWith(engine, other.id, { value: '1' });
      const customerId = await createCustomer(engine);
      await subscribe(customerId, planId, { addons: [{ addon_id: addonId, quantity: '3' }] });
      const allowances = new Allowances(engine, customerId);
      expect(await allowances.figures(key)).toEqual(['100', '0', '100']);
      const made = await engine.http
        .post('/v1/addon-entitlements')
        .send({ addon_id: addonId, entitlement_id: id, value: '10' });
      const link = `/v1/addon-entitlements/${(made.body as { id: string }).id}`;
      expect((await allowances.of(key)).limit).toBe('130');
      await engine.http.patch(link).send({ value: '20' });
      expect((await allowances.of(key)).limit).toBe('160');
      await engine.http.patch(link).send({ mode: 'set' });
      expect((await allowances.of(key)).limit).toBe('60');
      expect((await allowances.of(key)).sources.map(({ is_counted }) => is_counted)).toEqual([
        false,
        true,
      ]);
      await engine.http.delete(link);
      expect((await allowances.of(key)).limit).toBe('100');
    });

    it('another subscription, and its end', async () => {
      const { key, planId, customerId, allowances } = await customerWith('100');
      await allowances.consume(key, '30');
      const second = await subscribe(customerId, planId);
      expect(await allowances.figures(key)).toEqual(['200', '30', '170']);
      await engine.http.post(`/v1/subscriptions/${second}/cancel`).send({ when: 'now' });
      expect(await allowances.figures(key)).toEqual(['100', '30', '70']);
    });

    it.each([
      ['paused', false],
      ['unpaid', false],
      ['incomplete', false],
      ['trialing', true],
      ['past_due', true],
    ])('a subscription that is %s: %s', async (status, expected) => {
      const { key, subscriptionId, customerId, allowances } = await customerWith('100');
      await engine.database.query(
        `UPDATE subscription SET status = $2::varchar, paused_at = CASE WHEN $2::varchar = 'paused' THEN updated_at END WHERE id = $1`,
        [subscriptionId, status],
      );
      // Any commit that changes the subscriptions of the customer.
      const other = await planWith([]);
      await subscribe(customerId, other);
      expect((await allowances.of(key)).has_access).toBe(expected);
    });
  });

  describe('is consumed', () => {
    it('up to a hard limit, not beyond it', async () => {
      const { key, allowances } = await customerWith('10.5');
      expect(await allowances.consume(key, '10')).toMatchObject({
        allowed: true,
        has_access: true,
        used: '10',
        remaining: '0.5',
      });
      expect(await allowances.consume(key, '0.6')).toMatchObject({ allowed: false, used: '10' });
      expect(await allowances.consume(key, '0.5')).toMatchObject({
        allowed: true,
        has_access: false,
        remaining: '0',
      });
      expect(await allowances.figures(key)).toEqual(['10.5', '10.5', '0']);
    });

    it('beyond a soft limit as overage, and without bound if there is no limit', async () => {
      const soft = await customerWith('10', { is_hard_limit: false });
      expect(await soft.allowances.consume(soft.key, '12')).toMatchObject({
        allowed: true,
        has_access: true,
        overage_allowed: true,
        used: '12',
        remaining: '0',
      });
      const endless = await customerWith(null);
      expect(await endless.allowances.consume(endless.key, '1000000000000')).toMatchObject({
        allowed: true,
        limit: null,
        used: '1000000000000',
      });
    });

    it('once per key; a replay gets the first response', async () => {
      const { key, allowances } = await customerWith('10');
      const first = await allowances.consume(key, '4', 'once');
      await allowances.consume(key, '4', 'other');
      expect(await allowances.consume(key, '4.0', 'once')).toEqual(first);
      expect(await allowances.figures(key)).toEqual(['10', '8', '2']);
      const refused = await allowances.consume(key, '5', 'refused');
      expect(refused.allowed).toBe(false);
      await allowances.grant(key, { value: '100' });
      expect(await allowances.consume(key, '5', 'refused')).toEqual(refused);
    });

    it('once per key, also by concurrent requests', async () => {
      const { key, allowances } = await customerWith('100');
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => allowances.consume(key, '1', 'at-once')),
      );
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(await allowances.figures(key)).toEqual(['100', '1', '99']);
    });

    it('not with a key that was used with another quantity', async () => {
      const { key, allowances } = await customerWith('10');
      await allowances.consume(key, '1', 'key');
      const answer = await engine.http
        .post(`${allowances.path(key)}/consume`)
        .send({ quantity: '2', idempotency_key: 'key' });
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ code: 'idempotency_key_reused' });
    });

    it('once per Idempotency-Key header, whatever key is in the body', async () => {
      const { key, allowances } = await customerWith('10');
      const send = () =>
        engine.http
          .post(`${allowances.path(key)}/consume`)
          .set('Idempotency-Key', `header-${key}`)
          .send({ quantity: '1', idempotency_key: 'body' });
      const first = await send();
      const second = await send();
      expect(second.text).toBe(first.text);
      expect(second.headers['idempotent-replayed']).toBe('true');
    });

    it.each(['boolean', 'static'])('not if it is %s', async (type) => {
      const { key, allowances } = await customerWith(type === 'static' ? '1' : null, {}, { type });
      const answer = await engine.http
        .post(`${allowances.path(key)}/consume`)
        .send({ quantity: '1', idempotency_key: 'a' });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'entitlement_not_metered' });
    });

    it.each([
      [{}, ['/quantity', '/idempotency_key']],
      [{ quantity: 1, idempotency_key: 'a' }, ['/quantity']],
      [{ quantity: '-1', idempotency_key: 'a' }, ['/quantity']],
      [{ quantity: '1e3', idempotency_key: 'a' }, ['/quantity']],
      [{ quantity: '1'.repeat(21), idempotency_key: 'a' }, ['/quantity']],
      [{ quantity: '1', idempotency_key: '' }, ['/idempotency_key']],
      [{ quantity: '1', idempotency_key: 'x'.repeat(256) }, ['/idempotency_key']],
      [{ quantity: '1', idempotency_key: 'ä' }, ['/idempotency_key']],
      [{ quantity: '1', idempotency_key: 'a', other: 1 }, ['/other']],
    ])('not with %j', async (body, pointers) => {
      const { key, allowances } = await customerWith('1');
      const answer = await engine.http.post(`${allowances.path(key)}/consume`).send(body);
      expect(answer.status).toBe(400);
      const { errors } = answer.body as { errors: { pointer: string }[] };
      expect(errors.map(({ pointer }) => pointer)).toEqual(pointers);
    });

    it.each(['1'.repeat(21), '0.0000000000001'])('not with the quantity %s', async (quantity) => {
      const { key, allowances } = await customerWith('1');
      const answer = await engine.http
        .post(`${allowances.path(key)}/consume`)
        .send({ quantity, idempotency_key: 'a' });
      const { detail } = answer.body as { detail: string };
      expect(detail).toContain('at most 20 digits before and 12 after the point');
    });

    it.each([
      ["a' OR '1'='1", 404],
      ['%00', 404],
      ['%E0%A4%A', 400],
      ['x'.repeat(2_000), 404],
      ['..%2F..%2Fcustomers', 404],
    ])('not with the key %j in the path, which has no effect', async (key, status) => {
      const customerId = await createCustomer(engine);
      const answer = await engine.http.get(`/v1/customers/${customerId}/entitlements/${key}`);
      expect(answer.status).toBe(status);
    });

    it('exactly 100 times of 100 by 200 concurrent callers of one process', async () => {
      const { key, allowances } = await customerWith('100');
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => allowances.consume(key, '1')),
      );
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(100);
      expect(await allowances.figures(key)).toEqual(['100', '100', '0']);
    });

    it('exactly 100 times of 100 by 200 concurrent callers of two processes', async () => {
      const { key, allowances } = await customerWith('100');
      const child = fork(RUN_TS, [API, engine.databaseUrl], { execArgv: [] });
      try {
        const [url] = (await once(child, 'message')) as [string];
        const other = checkedClient(url);
        const consume = async (index: number): Promise<boolean> => {
          const caller = index % 2 === 0 ? engine.http : other;
          const answer = await caller
            .post(`${allowances.path(key)}/consume`)
            .send({ quantity: '1', idempotency_key: `caller-${index}` });
          expect(answer.status).toBe(200);
          return (answer.body as { allowed: boolean }).allowed;
        };
        const allowed = await Promise.all(
          Array.from({ length: 200 }, (_, index) => consume(index)),
        );
        expect(allowed.filter(Boolean)).toHaveLength(100);
        expect(await allowances.figures(key)).toEqual(['100', '100', '0']);
      } finally {
        child.kill('SIGKILL');
      }
    });

    it('never beyond the limit while the limit changes', async () => {
      const { id, key } = await createEntitlement(engine);
      const { addonId, linkId } = await createAddonWith(engine, id, { value: '40' });
      const customerId = await createCustomer(engine);
      await subscribe(customerId, await planWith([]), { addons: [{ addon_id: addonId }] });
      const allowances = new Allowances(engine, customerId);
      const callers = Array.from({ length: 60 }, () => allowances.consume(key, '1'));
      const change = engine.http.patch(`/v1/addon-entitlements/${linkId}`).send({ value: '50' });
      const answers = await Promise.all([...callers, change.then(() => null)]);
      const allowed = answers.filter((answer) => answer?.allowed === true).length;
      expect(allowed).toBeGreaterThanOrEqual(40);
      expect(allowed).toBeLessThanOrEqual(50);
      expect(await allowances.figures(key)).toEqual(['50', String(allowed), String(50 - allowed)]);
    });
  });

  describe('records events', () => {
    interface NotifiedRow {
      readonly type: string;
      readonly data: { readonly object: { readonly percent?: number; readonly key: string } };
    }

    async function notifiedOf(
      customerId: string,
    ): Promise<readonly (string | number | undefined)[][]> {
      const rows = await engine.database.query<NotifiedRow>(
        `SELECT type, data FROM ${EVENTS} WHERE type LIKE 'entitlement.%' AND data->'object'->>'customer_id' = $1 ORDER BY id`,
        [customerId],
      );
      return rows.map(({ type, data }) => [type.replace('entitlement.', ''), data.object.percent]);
    }

    it('for thresholds and for the limit, once each', async () => {
      const { key, customerId, allowances } = await customerWith('10');
      await allowances.consume(key, '7.9');
      expect(await notifiedOf(customerId)).toEqual([]);
      await allowances.consume(key, '0.1');
      expect(await notifiedOf(customerId)).toEqual([['threshold_reached', 80]]);
      await allowances.consume(key, '2');
      await allowances.consume(key, '1');
      expect(await notifiedOf(customerId)).toEqual([
        ['threshold_reached', 80],
        ['threshold_reached', 100],
        ['limit_reached', 100],
      ]);
      await allowances.grant(key, { value: '1' });
      await allowances.consume(key, '1');
      expect(await notifiedOf(customerId)).toEqual([
        ['threshold_reached', 80],
        ['threshold_reached', 100],
        ['limit_reached', 100],
        ['granted', undefined],
      ]);
    });

    it('for custom thresholds, and always for the limit', async () => {
      const { key, customerId, allowances } = await customerWith(
        '10',
        { is_hard_limit: false },
        { thresholds: [150, 50] },
      );
      await allowances.consume(key, '6');
      await allowances.consume(key, '6');
      await allowances.consume(key, '6');
      expect(await notifiedOf(customerId)).toEqual([
        ['threshold_reached', 50],
        ['limit_reached', 100],
        ['threshold_reached', 150],
      ]);
    });

    it('once per threshold, also when concurrent requests reach it', async () => {
      const { key, customerId, allowances } = await customerWith('10');
      await Promise.all(Array.from({ length: 20 }, () => allowances.consume(key, '1')));
      expect(await notifiedOf(customerId)).toHaveLength(3);
    });
  });

  describe('is granted', () => {
    it('with every field', async () => {
      const { id, key, customerId, allowances } = await customerWith('10');
      const sent = {
        value: '5.5',
        priority: 3,
        expires_at: '2026-06-01T00:00:00.000Z',
        rollover: { min: '1', max: '4' },
        metadata: { ticket: 'A-1' },
      };
      const answer = await engine.http.post(`${allowances.path(key)}/grants`).send(sent);
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual({
        id: expect.stringMatching(/^grant_/) as string,
        customer_id: customerId,
        entitlement_id: id,
        key,
        status: 'active',
        remaining: '5.5',
        ...sent,
        ended_at: null,
        created_at: '2026-03-01T09:30:00.000Z',
        updated_at: '2026-03-01T09:30:00.000Z',
      });
      const grant = answer.body as GrantBody;
      expect(await eventsOf(engine, grant.id)).toMatchObject([
        { type: 'entitlement.granted', data: { object: answer.body as object } },
      ]);
      expect(await allowances.of(key)).toMatchObject({
        limit: '15.5',
        sources: [{ type: 'plan' }, { type: 'grant', id: grant.id, value: '5.5' }],
      });
    });

    it('without any subscription', async () => {
      const allowances = new Allowances(engine, await createCustomer(engine));
      const feature = await createEntitlement(engine, { type: 'boolean' });
      const seats = await createEntitlement(engine, { type: 'static' });
      const calls = await createEntitlement(engine);
      await allowances.grant(feature.key, { expires_at: '2026-03-02T00:00:00Z' });
      await allowances.grant(seats.key, { value: '2' });
      await allowances.grant(seats.key, { value: '3' });
      await allowances.grant(calls.key, { value: '2' });
      expect(await allowances.of(feature.key)).toMatchObject({ has_access: true, limit: null });
      expect(await allowances.of(seats.key)).toMatchObject({ has_access: true, limit: '5' });
      expect(await allowances.consume(calls.key, '3')).toMatchObject({ allowed: false });
      expect(await allowances.consume(calls.key, '2')).toMatchObject({
        allowed: true,
        resets_at: null,
      });
    });

    it('and consumed by priority, expiry and age, after the allowance of subscriptions', async () => {
      const { key, allowances } = await customerWith('10');
      await allowances.grant(key, { value: '5' });
      await allowances.grant(key, { value: '5', expires_at: '2026-05-01T00:00:00Z' });
      await allowances.grant(key, { value: '5', priority: 1 });
      await allowances.consume(key, '10');
      expect(await allowances.grants(key)).toEqual([
        ['active', '5'],
        ['active', '5'],
        ['active', '5'],
      ]);
      await allowances.consume(key, '7');
      expect(await allowances.grants(key)).toEqual([
        ['active', '5'],
        ['active', '3'],
        ['active', '0'],
      ]);
    });

    it('and voided: usage taken from it stays covered', async () => {
      const { key, allowances } = await customerWith('10');
      const { id } = await allowances.grant(key, { value: '5' });
      await allowances.consume(key, '12');
      const path = `${allowances.path(key)}/grants/${id}/void`;
      const first = await engine.http.post(path);
      expect(first.status).toBe(200);
      expect(first.body).toMatchObject({ id, status: 'voided', remaining: null });
      expect(await allowances.figures(key)).toEqual(['12', '12', '0']);
      expect((await engine.http.post(path)).body).toEqual(first.body);
      expect((await eventsOf(engine, id)).map(({ type }) => type)).toEqual([
        'entitlement.granted',
        'entitlement.grant_voided',
      ]);
      const unknown = await engine.http.post(
        `${allowances.path(key)}/grants/${UNKNOWN_GRANT}/void`,
      );
      expect(unknown.status).toBe(404);
      expect(unknown.body).toMatchObject({ code: 'entitlement_grant_not_found' });
    });

    it('and cannot be voided after it expired', async () => {
      const { key, allowances } = await customerWith('10');
      const { id } = await allowances.grant(key, {
        value: '5',
        expires_at: '2026-03-01T09:30:00.001Z',
      });
      engine.clock.advanceMs(1);
      try {
        const answer = await engine.http.post(`${allowances.path(key)}/grants/${id}/void`);
        expect(answer.status).toBe(409);
        expect(answer.body).toMatchObject({ code: 'invalid_transition' });
      } finally {
        engine.clock.advanceMs(-1);
      }
    });

    it.each([
      [{}, 422, '/value'],
      [{ value: '0' }, 422, '/value'],
      [{ value: '1', expires_at: '2026-03-01T09:30:00Z' }, 422, '/expires_at'],
      [{ value: '1', rollover: { min: '2', max: '1' } }, 422, '/rollover/min'],
      [{ value: '1', rollover: {} }, 400, '/rollover/max'],
      [{ value: '1', rollover: [] }, 400, '/rollover'],
      [{ value: 1 }, 400, '/value'],
      [{ value: '1', priority: -1 }, 400, '/priority'],
      [{ value: '1', priority: 1.5 }, 400, '/priority'],
      [{ value: '1', expires_at: 'soon' }, 400, '/expires_at'],
    ])('not with %j: %i', async (body, status, pointer) => {
      const { key, allowances } = await customerWith('1');
      const answer = await engine.http.post(`${allowances.path(key)}/grants`).send(body);
      expect(answer.status).toBe(status);
      expect((answer.body as { errors: { pointer: string }[] }).errors[0]?.pointer).toBe(pointer);
    });

    it('at most 100 times', async () => {
      const { key, customerId, allowances } = await customerWith('1');
      const first = await allowances.grant(key, { value: '1' });
      await engine.database.query(
        `INSERT INTO entitlement_grant (id, version, customer_id, entitlement_id, value, balance, priority, metadata, created_at, updated_at)
        SELECT 'grant_' || lpad(n::text, 26, '0'), 1, customer_id, entitlement_id, value, balance, priority, '{}', created_at, updated_at
        FROM entitlement_grant, generate_series(1, 99) n WHERE id = $1 AND customer_id = $2`,
        [first.id, customerId],
      );
      const answer = await engine.http.post(`${allowances.path(key)}/grants`).send({ value: '1' });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'too_many_grants', limit: 100 });
    });
  });
});
