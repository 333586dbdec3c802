import { ModulesContainer } from '@nestjs/core';
import { BoundedMap } from '../../src/platform/caching';
import { DeliveryWorker } from '../../src/modules/webhooks/delivery/delivery-worker';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { BOOTSTRAP_KEY, bearing, WITH_KEYS } from '../support/keys';
import { type Receiver, startReceiver } from '../support/receiver';
import { startTestApp, type TestApp } from '../support/test-app';

const ROUNDS = 4;

/** Maps, sets and lists that may have an entry for each object, because their own code bounds them. */
const BOUNDED: readonly string[] = ['StreamCache.youngGeneration'];

/** Services are kept as long as the process, so what they keep for each object is memory that is never free again. */
describe('services', () => {
  let engine: TestApp;
  let receiver: Receiver;
  let made = 0;

  beforeAll(async () => {
    engine = await startTestApp({
      environment: { ...WITH_KEYS, WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' },
    });
    engine.http.set(bearing(BOOTSTRAP_KEY));
    receiver = await startReceiver();
  });

  afterAll(async () => {
    await receiver.close();
    await engine.close();
  });

  async function post(path: string, body: object = {}): Promise<Record<string, string>> {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body as Record<string, string>;
  }

  /** Makes an object of each kind that a service may remember, uses it, and deletes those that can be deleted. */
  async function round(): Promise<void> {
    const name = `kept_${(made += 1)}`;
    const key = await post('api-keys', { name, scopes: ['catalog:read'] });
    await engine.http
      .get('/v1/meters')
      .set(bearing(key['secret'] ?? ''))
      .expect(200);
    await engine.http.delete(`/v1/api-keys/${key['id']}`).expect(204);

    const counted = { key: name, name, event_name: name, aggregation: 'count' };
    const { id: meterId } = await post('meters', counted);
    await post('entitlements', { key: name, name, type: 'metered', meter_id: meterId });
    const { id: customerId } = await post('customers', { name });
    const entitlement = `customers/${customerId}/entitlements/${name}`;
    await post(`${entitlement}/grants`, { value: '10' });
    for (const idempotencyKey of ['a', 'b']) {
      await post(`${entitlement}/consume`, { quantity: '1', idempotency_key: idempotencyKey });
    }
    await post('usage-events', {
      idempotency_key: name,
      customer_id: customerId,
      event_name: name,
      timestamp: engine.clock.now().toISOString(),
    });

    const endpoint = await post('webhooks/endpoints', {
      url: receiver.url,
      events: ['coupon.created'],
    });
    await post('coupons', { type: 'percent', percent_off: '10', duration: 'once' });
    await engine.app.get(EventDispatcher).runDue();
    await engine.app.get(DeliveryWorker).runDue();
    await engine.app.get(DeliveryWorker).idle();
    await engine.http.delete(`/v1/webhooks/endpoints/${endpoint['id']}`).expect(204);

    const clock = await post('test-clocks', { name, now: '2026-03-01T00:00:00Z' });
    await engine.http.delete(`/v1/test-clocks/${clock['id']}`).expect(204);
  }

  it('keep no entry for each object, unless they bound their entries', async () => {
    await round();
    const before = sizesOf(engine);
    for (let rounds = 0; rounds < ROUNDS; rounds += 1) await round();
    const grown = [...sizesOf(engine)].filter(
      ([field, size]) => size - (before.get(field) ?? 0) >= ROUNDS && !BOUNDED.includes(field),
    );
    expect(receiver.received).toHaveLength(1 + ROUNDS);
    expect(grown).toEqual([]);
  });
});

/** Returns the size of each collection that a service, or an object of its own, has in a field. */
function sizesOf({ app }: TestApp): ReadonlyMap<string, number> {
  const services = new Set(
    [...app.get(ModulesContainer).values()]
      .flatMap(({ providers, controllers }) => [...providers.values(), ...controllers.values()])
      .map(({ instance }): unknown => instance)
      .filter((instance) => typeof instance === 'object' && instance !== null),
  );
  const sizes = new Map<string, number>();
  for (const service of services) {
    for (const [field, value] of fieldsOf(service)) {
      add(sizes, field, value);
      if (typeof value !== 'object' || value === null || services.has(value)) continue;
      for (const [part, inner] of fieldsOf(value)) add(sizes, `${field} (${part})`, inner);
    }
  }
  return sizes;
}

function fieldsOf(object: unknown): readonly (readonly [string, unknown])[] {
  const { constructor: type } = object as { readonly constructor?: { readonly name: string } };
  const owner = type?.name ?? 'Object';
  return Object.entries(object as object).map(([name, value]) => [`${owner}.${name}`, value]);
}

function add(sizes: Map<string, number>, field: string, value: unknown): void {
  if (value instanceof BoundedMap) return;
  if (value instanceof Map || value instanceof Set) sizes.set(field, value.size);
  else if (Array.isArray(value)) sizes.set(field, value.length);
}
