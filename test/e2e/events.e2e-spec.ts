import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAYMENT_STATUSES } from '../../src/modules/payments/domain/payment';
import { REFUND_STATUSES } from '../../src/modules/refunds/domain/refund';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { createAdmin } from '../support/admins';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { startReceiver } from '../support/receiver';
import { signedIn } from '../support/signed-in';
import { firstIdAt } from '../../src/platform/ids';
import { startTestApp, type TestApp } from '../support/test-app';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly previous_sequence: number | null;
}

describe('events', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function list(query: Readonly<Record<string, string>> = {}): Promise<readonly Event[]> {
    const answer = await engine.http.get('/v1/events').query(query);
    expect(answer.status).toBe(200);
    return (answer.body as { data: Event[] }).data;
  }

  async function createCoupon(): Promise<string> {
    const answer = await engine.http
      .post('/v1/coupons')
      .send({ type: 'percent', percent_off: '10', duration: 'once' });
    return (answer.body as { id: string }).id;
  }

  it('are none at first', async () => {
    expect((await engine.http.get('/v1/events')).body).toEqual({ data: [], next_cursor: null });
  });

  it('can be listed by object, type and time, newest first, and read one by one', async () => {
    const coupon = await createCoupon();
    engine.clock.advanceMs(60_000);
    const changedAt = engine.clock.now().toISOString();
    await engine.http.patch(`/v1/coupons/${coupon}`).send({ is_active: false });
    engine.clock.advanceMs(60_000);
    await engine.http.post('/v1/customers').send({ name: 'Ada' });

    const ofCoupon = await list({ object_id: coupon });
    expect(
      ofCoupon.map(({ type, sequence, previous_sequence }) => [type, sequence, previous_sequence]),
    ).toEqual([
      ['coupon.updated', 2, 1],
      ['coupon.created', 1, null],
    ]);
    expect((await list()).map(({ type }) => type)).toEqual([
      'customer.created',
      'coupon.updated',
      'coupon.created',
    ]);
    expect(await list({ type: 'coupon.updated' })).toEqual(ofCoupon.slice(0, 1));
    expect(await list({ type: 'coupon.*' })).toEqual(ofCoupon);
    expect(await list({ type: 'coup.*' })).toEqual([]);
    expect(await list({ from: changedAt, to: engine.clock.now().toISOString() })).toEqual(
      ofCoupon.slice(0, 1),
    );
    const one = await engine.http.get(`/v1/events/${ofCoupon[0]?.id ?? ''}`);
    expect(one.body).toEqual(ofCoupon[0]);
    expect(one.body).toMatchObject({
      timestamp: changedAt,
      data: { object: { id: coupon, is_active: false }, previous: { is_active: true } },
    });
    const paged = await engine.http.get('/v1/events').query({ limit: 1 });
    const { next_cursor: cursor } = paged.body as { next_cursor: string };
    expect(await list({ limit: '1', cursor })).toEqual(ofCoupon.slice(0, 1));
  });

  it('are not listed by time with a cursor of the list by id, or the other way round', async () => {
    await createCoupon();
    await createCoupon();
    const byTime = { from: '2020-01-01T00:00:00Z', limit: '1' };
    const cursors = [];
    for (const query of [{ limit: '1' }, byTime]) {
      const { body } = await engine.http.get('/v1/events').query(query);
      cursors.push((body as { next_cursor: string }).next_cursor);
    }
    const [ofIds = '', ofTimes = ''] = cursors;
    for (const query of [
      { ...byTime, cursor: ofIds },
      { to: '2100-01-01T00:00:00Z', cursor: ofIds },
      { limit: '1', cursor: ofTimes },
    ]) {
      const answer = await engine.http.get('/v1/events').query(query);
      expect(answer.body).toMatchObject({ status: 400, code: 'invalid_cursor' });
    }
    const next = await list({ limit: '1', cursor: ofIds });
    expect(next).toHaveLength(1);
    expect(await list({ ...byTime, cursor: ofTimes })).toEqual(next);
  });

  it('of one object are listed by sequence, page by page, whatever the clocks of processes made their ids', async () => {
    const coupon = await createCoupon();
    for (const is_active of [false, true]) {
      await engine.http.patch(`/v1/coupons/${coupon}`).send({ is_active });
    }
    // A process whose clock is behind makes ids that sort before those of the earlier events.
    const [, second] = await list({ object_id: coupon });
    const behind = firstIdAt('evt', new Date(Date.now() - 3_000));
    await engine.database.transaction(async () => {
      await engine.database.query('SET LOCAL session_replication_role = replica');
      const rename = (table: string, column: string) =>
        `UPDATE ${table} SET ${column} = $2 WHERE ${column} = $1`;
      await engine.database.query(rename('event', 'id'), [second?.id, behind]);
      await engine.database.query(rename('event_dispatch', 'event_id'), [second?.id, behind]);
    });
    const customer = await engine.http.post('/v1/customers').send({ name: 'Grace' });
    for (const type of ['coupon.*', 'coupon.updated']) {
      const found = await list({ object_id: coupon, type, limit: '2' });
      expect(found.map(({ sequence }) => sequence)).toEqual([3, 2]);
    }
    const { id } = customer.body as { id: string };
    expect(await list({ object_id: id, customer_id: id })).toHaveLength(1);
    const sequences: number[] = [];
    let cursor: string | null = null;
    do {
      const query = { object_id: coupon, limit: '1', ...(cursor !== null && { cursor }) };
      const { body } = await engine.http.get('/v1/events').query(query).expect(200);
      const page = body as { data: Event[]; next_cursor: string | null };
      sequences.push(...page.data.map(({ sequence }) => sequence));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(sequences).toEqual([3, 2, 1]);
    const byId = await engine.http.get('/v1/events').query({ object_id: coupon, cursor: behind });
    expect(byId.body).toMatchObject({ status: 400, code: 'invalid_cursor' });
  });

  it('of customers on a test clock are sent, whether the clock is behind or ahead of real time', async () => {
    const clocks = ['2020-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z'];
    const createCustomers = async () => {
      for (const now of clocks) {
        const clock = await engine.http.post('/v1/test-clocks').send({ name: 'Clock', now });
        const { id } = clock.body as { id: string };
        const created = await engine.http
          .post('/v1/customers')
          .send({ name: 'Ada', test_clock_id: id });
        expect(created.status).toBe(201);
      }
    };
    await createCustomers();
    const endpoint = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: 'http://127.0.0.1:9/hooks', events: ['customer.created'] });
    const { id } = endpoint.body as { id: string };
    await createCustomers();
    await engine.app.get(EventDispatcher).runDue();
    const listed = await engine.http.get(`/v1/webhooks/endpoints/${id}/deliveries`);
    const sent = (listed.body as { data: { event_id: string }[] }).data;
    const recorded = await list({ type: 'customer.created' });
    expect(sent.map((delivery) => delivery.event_id)).toEqual(
      recorded.slice(0, clocks.length).map((event) => event.id),
    );
  });

  it('are not recorded for refused requests', async () => {
    const before = await list();
    await engine.http.post('/v1/coupons').send({ type: 'percent', duration: 'once' });
    await engine.http.delete('/v1/coupons/coup_01h455vb4pex5vsknk084sn02q');
    expect(await list()).toEqual(before);
  });

  it.each(['type=x', 'type=*', 'from=yesterday', 'object_id=', 'sort=asc'])(
    'listed with ?%s are refused',
    async (query) => {
      expect((await engine.http.get(`/v1/events?${query}`)).status).toBe(400);
    },
  );

  it('with an unknown id give 404', async () => {
    for (const id of ['evt_01h455vb4pex5vsknk084sn02q', 'nope']) {
      const answer = await engine.http.get(`/v1/events/${id}`);
      expect(answer.body).toMatchObject({ code: 'event_not_found', status: 404 });
    }
  });

  it('have a catalogue with an example of each type, whose object has every field', async () => {
    const answer = await engine.http.get('/v1/webhooks/event-types');
    const { data } = answer.body as {
      data: {
        type: string;
        description: string;
        example: { type: string; data: { object: object } };
      }[];
    };
    expect(data.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['coupon.created', 'payment.succeeded', 'refund.failed']),
    );
    const document = (await engine.uncheckedHttp.get('/openapi.json')).body as OpenApiWebhooks;
    for (const { type, description, example } of data) {
      expect(description).toMatch(/\.$/);
      expect(example.type).toBe(type);
      const fields = Object.keys(example.data.object);
      expect(fields).toContain('id');
      const required = schemaOf(document, type)?.required;
      expect({ type, missing: required?.filter((field) => !fields.includes(field)) }).toEqual({
        type,
        missing: [],
      });
    }
    const refund = data.find(({ type }) => type === 'refund.succeeded');
    expect(refund?.example.data.object).toMatchObject({ amount: 2_500, currency: 'EUR' });
  });

  it('show the status in their example that the name of the type says', async () => {
    const answer = await engine.http.get('/v1/webhooks/event-types');
    const document = (await engine.uncheckedHttp.get('/openapi.json')).body as OpenApiWebhooks;
    const { data } = answer.body as {
      data: { type: string; example: { data: { object: Readonly<Record<string, unknown>> } } }[];
    };
    const expected = data.flatMap(({ type, example: { data: shown } }) => {
      const statuses = schemaOf(document, type)?.properties?.['status']?.enum ?? [];
      const named = statuses.filter((status) => type.includes(status));
      if (type.endsWith('.disabled')) named.push('disabled');
      return named.map((status) => ({ type, status, shown: shown.object }));
    });
    const shownStatus = (object: Readonly<Record<string, unknown>>): unknown =>
      object['is_active'] === false || object['is_enabled'] === false
        ? 'disabled'
        : object['status'];
    const wrong = expected.filter(({ status, shown }) => shownStatus(shown) !== status);
    expect(expected.length).toBeGreaterThan(20);
    // A dispute that is closed is also won or lost, except an inquiry.
    expect(wrong.map(({ type }) => type)).toEqual(['dispute.closed']);
    const created = data.find(({ type }) => type === 'invoice.created');
    expect(created?.example.data.object).toMatchObject({ status: 'draft', number: null });
  });

  it('show times of an end, a failure or a payment only after it happened', async () => {
    const answer = await engine.http.get('/v1/webhooks/event-types');
    const { data } = answer.body as {
      data: { type: string; example: { data: { object: Readonly<Record<string, unknown>> } } }[];
    };
    const ofStatus =
      /^(?:archived|canceled|ended|overdue|paid|paused|removed|renewal_failed|revoked|uncollectible|voided)_at$/;
    const shown = data.flatMap(({ type, example: { data: resource } }) =>
      Object.entries(resource.object)
        .filter(([field, value]) => ofStatus.test(field) && value !== null)
        .map(([field]) => `${type} ${field}`),
    );
    expect(shown).toEqual([
      'api_key.revoked revoked_at',
      'coupon.removed ended_at',
      'coupon.removed removed_at',
      'credit_note.voided voided_at',
      'entitlement.grant_expired ended_at',
      'entitlement.grant_lapsed ended_at',
      'entitlement.grant_voided ended_at',
      'invoice.overdue overdue_at',
      'invoice.paid paid_at',
      'invoice.uncollectible uncollectible_at',
      'invoice.voided voided_at',
      'meter.archived archived_at',
      'reconciliation.completed ended_at',
      'reconciliation.failed ended_at',
      'session.ended ended_at',
      'subscription.canceled canceled_at',
      'subscription.canceled ended_at',
      'subscription.expired ended_at',
      'subscription.paused paused_at',
      'subscription.renewal_failed renewal_failed_at',
      'usage.voided voided_at',
    ]);
    const instant = (resource: Readonly<Record<string, unknown>>, field: string): string | null =>
      typeof resource[field] === 'string' ? resource[field] : null;
    const inOrder = [
      ['period_start', 'period_end'],
      ['current_period_start', 'current_period_end'],
      ['from', 'to'],
      ['current_period_end', 'ended_at'],
      ['to', 'ended_at'],
      ['next_billing_at', 'renewal_failed_at'],
    ] as const;
    for (const { type, example } of data) {
      const { object } = example.data;
      for (const [first, second] of inOrder) {
        const [earlier, later] = [instant(object, first), instant(object, second)];
        if (earlier === null || later === null) continue;
        const isInOrder = earlier < later || (second.endsWith('_at') && earlier === later);
        expect({ type, first, second, isInOrder }).toEqual({
          type,
          first,
          second,
          isInOrder: true,
        });
      }
    }
  });

  it('cover every state of a payment and a refund', async () => {
    const answer = await engine.http.get('/v1/webhooks/event-types');
    const types = (answer.body as { data: { type: string }[] }).data.map(({ type }) => type);
    const afterwards = (statuses: readonly string[]) =>
      statuses.filter((status) => status !== 'pending');
    expect(types).toEqual(
      expect.arrayContaining([
        'payment.created',
        ...afterwards(PAYMENT_STATUSES).map((status) => `payment.${status}`),
        'refund.created',
        ...afterwards(REFUND_STATUSES).map((status) => `refund.${status}`),
      ]),
    );
  });

  it('are all documented', async () => {
    const answer = await engine.http.get('/v1/webhooks/event-types');
    const documented = readFileSync(join(__dirname, '../../docs/events.md'), 'utf8');
    for (const { type, description } of (
      answer.body as { data: { type: string; description: string }[] }
    ).data) {
      expect(documented).toContain(`## <a id="${type}"></a>\`${type}\`\n\n${description}\n`);
    }
  });
});

interface ResourceSchema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
}

interface OpenApiWebhooks {
  readonly webhooks: Readonly<Record<string, object>>;
  readonly components: { readonly schemas: Readonly<Record<string, ResourceSchema>> };
}

/** Returns the schema of the resource in an event; undefined if the OpenAPI document has none. */
function schemaOf({ webhooks, components }: OpenApiWebhooks, type: string) {
  const text = JSON.stringify(webhooks[type]);
  const name = /"object":\{"\$ref":"#\/components\/schemas\/(\w+)"/.exec(text)?.[1];
  return name === undefined ? undefined : components.schemas[name];
}

describe('events of API keys and admins', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({
      environment: { ...WITH_KEYS, WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' },
    });
    await createAdmin(engine, 'owner');
    await engine.http.post('/v1/customers').set(bearing(BOOTSTRAP_KEY)).send({ name: 'Ada' });
  });

  afterAll(() => engine.close());

  async function typesFor(headers: Record<string, string>, query = ''): Promise<readonly string[]> {
    const answer = await engine.http.get(`/v1/events${query}`).set(headers).expect(200);
    const events = (answer.body as { data: readonly Event[] }).data;
    return [...new Set(events.map(({ type }) => type.split('.', 1)[0] ?? ''))].sort();
  }

  it('are read only with keys:read and studio:read', async () => {
    const { id, secret } = await createKey(engine, 'events:read');
    const { secret: withKeys } = await createKey(engine, 'events:read', 'keys:read');
    expect(await typesFor(bearing(BOOTSTRAP_KEY))).toEqual(['api_key', 'customer', 'studio_admin']);
    expect(await typesFor(bearing(withKeys))).toEqual(['api_key', 'customer']);
    expect(await typesFor(bearing(secret))).toEqual(['customer']);
    for (const query of ['?type=api_key.*', '?type=api_key.created', `?object_id=${id}`]) {
      expect(await typesFor(bearing(secret), query)).toEqual([]);
    }
    const [event] = await engine.database.query<{ id: string }>(
      'SELECT id FROM event WHERE object_id = $1',
      [id],
    );
    const read = (key: string) => engine.http.get(`/v1/events/${event?.id}`).set(bearing(key));
    expect((await read(withKeys)).status).toBe(200);
    expect((await read(secret)).body).toMatchObject({ code: 'event_not_found' });
  });

  it.each(['viewer', 'support'] as const)(
    'are not read by %s, neither here nor in the audit log',
    async (role) => {
      const page = await signedIn(engine, role);
      expect(await typesFor(page)).toEqual(['customer']);
      const { body } = await engine.http.get('/v1/audit-log').set(page).expect(403);
      expect(body).toMatchObject({ required_scope: 'audit:read' });
    },
  );

  it('are not read in the response of a receiver that repeats them, as other events are', async () => {
    const { secret: noEvents } = await createKey(engine, 'webhooks:read');
    const { secret: someEvents } = await createKey(engine, 'webhooks:read', 'events:read');
    const receiver = await startReceiver();
    engine.clock.advanceMs(1_000);
    receiver.behave(({ body }, response) => response.end(body));
    const sent = { url: receiver.url, events: ['customer.created', 'studio_admin.created'] };
    const asOwner = bearing(BOOTSTRAP_KEY);
    await engine.http.post('/v1/webhooks/endpoints').set(asOwner).send(sent).expect(201);
    await engine.http.post('/v1/customers').set(asOwner).send({ name: 'Grace' });
    await createAdmin(engine, 'owner');
    await engine.app.get(EventDispatcher).runDue();
    const worker = engine.app.get(DeliveryWorker);
    await worker.runDue();
    await worker.idle();
    await receiver.close();
    const { body } = await engine.http.get('/v1/webhooks/deliveries').set(asOwner).expect(200);
    const { data } = body as { data: { id: string; event_type: string }[] };
    const typesShownTo = async (secret: string) => {
      const types: string[] = [];
      for (const { id, event_type } of data) {
        const path = `/v1/webhooks/deliveries/${id}`;
        const delivery = await engine.http.get(path).set(bearing(secret)).expect(200);
        const [attempt] = (delivery.body as { attempts: { response_start: string | null }[] })
          .attempts;
        if (attempt?.response_start?.includes(event_type) === true) types.push(event_type);
        else expect(attempt).toMatchObject({ status_code: 200, response_start: null });
      }
      return types.sort();
    };
    expect(await typesShownTo(BOOTSTRAP_KEY)).toEqual(['customer.created', 'studio_admin.created']);
    expect(await typesShownTo(someEvents)).toEqual(['customer.created']);
    expect(await typesShownTo(noEvents)).toEqual([]);
  });
});
