import { createEntitlement } from '../support/allowances';
import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

const NOW = '2026-03-01T00:00:00.000Z';

/** Clocks of processes may differ by 5 s (decision 36). */
describe('events of changes by a clock that is behind that of the last change', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const metadata = ['blue', 'red'].map((team) => ({ metadata: { team } }));
  const name = ['M', 'N'].map((one) => ({ name: one }));
  /** Path, body of an object that no other one has the code of, two changes of it, and other commands. */
  const casesOf = (code: string) =>
    [
      [
        'plans',
        { code, name: 'P', currency: 'USD', interval: 'month', prices: [] },
        metadata,
        [['/versions', { prices: [] }]],
      ],
      ['addons', { code, name: 'A', currency: 'USD', prices: [] }, metadata, []],
      ['coupons', { type: 'percent', percent_off: '10', duration: 'once' }, metadata, []],
      ['customers', { name: 'Ada' }, metadata, []],
      ['entitlements', { key: code, name: 'E', type: 'boolean' }, metadata, []],
      ['meters', { key: code, name: 'M', event_name: 'e', aggregation: 'count' }, metadata, []],
      ['tax-rates', { name: 'VAT', percentage: '19' }, metadata, []],
      [
        'webhooks/endpoints',
        { url: 'https://example.com/hooks', events: ['*'] },
        metadata,
        [
          ['/test', {}],
          ['/rotate-secret', {}],
        ],
      ],
      ['api-keys', { name: 'K', scopes: ['*'] }, name, [['/roll', {}]]],
      [
        'studio',
        {
          email: `${code}@example.com`,
          name: 'Ada',
          passwordHash: '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW',
        },
        name,
        [],
      ],
    ] as const;

  it.each([
    ...casesOf('a').map((one) => [...one, 3_000, '2026-03-01T00:00:03.000Z'] as const),
    // Only a wrong clock is more than a minute ahead. Its dates are not followed.
    ...casesOf('b').map((one) => [...one, 3_600_000, NOW] as const),
  ])('%s', async (path, body, changes, commands, aheadMs, expected) => {
    engine.clock.set(NOW);
    const made = await engine.http.post(`/v1/${path}`).send(body).expect(201);
    const { id } = made.body as { id: string };
    engine.clock.advanceMs(aheadMs);
    await engine.http.patch(`/v1/${path}/${id}`).send(changes[0]).expect(200);
    engine.clock.set(NOW);
    await engine.http.patch(`/v1/${path}/${id}`).send(changes[1]).expect(200);
    for (const [command, content] of commands) {
      const answer = await engine.http.post(`/v1/${path}/${id}${command}`).send(content);
      expect(answer.status).toBeLessThan(203);
      if (path === 'plans') expect(answer.body).toMatchObject({ created_at: expected });
    }
    await engine.http.delete(`/v1/${path}/${id}`);
    const { body: page } = await engine.http.get('/v1/events').query({ object_id: id });
    const { data } = page as { data: readonly { readonly timestamp: string }[] };
    expect(data).toHaveLength(4 + commands.length);
    const after = data.slice(0, -2).map(({ timestamp }) => timestamp);
    expect(new Set(after)).toEqual(new Set([expected]));
  });

  it.each([
    [3_000, '2026-03-01T00:00:03.000Z'],
    [3_600_000, NOW],
  ])('payment methods and grants made %d ms ahead', async (aheadMs, expected) => {
    engine.clock.set(NOW);
    const customer = `/v1/customers/${await createCustomer(engine)}`;
    const { key } = await createEntitlement(engine);
    engine.clock.advanceMs(aheadMs);
    const post = async (path: string, body: object): Promise<string> =>
      ((await engine.http.post(`${customer}/${path}`).send(body)).body as { id: string }).id;
    const method = await post('payment-methods', { provider: 'sandbox', token: 'pm_sandbox_ok' });
    const grant = await post(`entitlements/${key}/grants`, { value: '5' });
    engine.clock.set(NOW);
    const methods = `${customer}/payment-methods/${method}`;
    await engine.http.patch(methods).send({ is_default: false }).expect(200);
    await engine.http.delete(methods).expect(204);
    await post(`entitlements/${key}/grants/${grant}/void`, {});
    for (const [object_id, count] of [
      [method, 2],
      [grant, 1],
    ] as const) {
      const { body } = await engine.http.get('/v1/events').query({ object_id });
      const after = (body as { data: unknown[] }).data.slice(0, -1);
      expect(after).toHaveLength(count);
      expect(after).toMatchObject(after.map(() => ({ timestamp: expected })));
    }
  });
});
