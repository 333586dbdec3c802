import { createEntitlement } from '../support/allowances';
import { createCustomer } from '../support/billing';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

interface Entry {
  readonly changes: readonly { readonly action: string; readonly changes: object }[];
}

describe('the audit log shows', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Returns the changes of an object by their action. */
  async function changesOf(objectId: string): Promise<Readonly<Record<string, object>>> {
    const { body } = await engine.http.get('/v1/audit-log').query({ object_id: objectId });
    const changes = (body as { readonly data: readonly Entry[] }).data.flatMap(
      (entry) => entry.changes,
    );
    return Object.fromEntries(changes.map((change) => [change.action, change.changes]));
  }

  it('no fields of a revoked customer token', async () => {
    const customer = await createCustomer(engine);
    const path = `/v1/customers/${customer}/tokens`;
    const { id } = await post(engine, path);
    expect((await engine.http.delete(`${path}/${id}`)).status).toBe(204);
    const changes = await changesOf(id);
    expect(changes['customer_token.created']).toMatchObject({ customer_id: { after: customer } });
    expect(changes['customer_token.revoked']).toEqual({});
  });

  it('no fields of a tested webhook endpoint', async () => {
    const endpoint = { url: 'https://example.com/hooks', events: ['*'] };
    const { id } = await post(engine, '/v1/webhooks/endpoints', endpoint);
    await post(engine, `/v1/webhooks/endpoints/${id}/test`);
    const changes = await changesOf(id);
    expect(changes['webhook_endpoint.created']).toMatchObject({ url: { after: endpoint.url } });
    expect(changes['webhook_endpoint.tested']).toEqual({});
  });

  // No other entry shows the customer and the entitlement of a balance.
  it('all fields of a reached limit', async () => {
    const { key } = await createEntitlement(engine, { thresholds: [80] });
    const customer = await createCustomer(engine);
    const path = `/v1/customers/${customer}/entitlements/${key}`;
    await post(engine, `${path}/grants`, { value: '10' });
    await post(engine, `${path}/consume`, { quantity: '10', idempotency_key: key });
    const [balance] = await engine.database.query<{ id: string }>(
      'SELECT id FROM customer_entitlement',
    );
    const reached = (percent: number) => ({
      customer_id: { after: customer },
      key: { after: key },
      percent: { after: percent },
      used: { after: '10' },
    });
    expect(await changesOf(balance?.id ?? '')).toMatchObject({
      'entitlement.threshold_reached': reached(80),
      'entitlement.limit_reached': reached(100),
    });
  });
});
