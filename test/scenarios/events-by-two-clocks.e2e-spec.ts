import { startTestApp, type TestApp } from '../support/test-app';

/** Clocks of processes may differ by 5 s (decision 36). */
describe('events of changes by a clock that is behind that of the last change', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const changedAt = '2026-03-01T00:00:03.000Z';
  const plan = { code: 'p', name: 'P', currency: 'USD', interval: 'month', prices: [] };
  const addon = { code: 'a', name: 'A', currency: 'USD', prices: [] };
  const coupon = { type: 'percent', percent_off: '10', duration: 'once' };
  const metadata = { team: 'blue' };

  it.each([
    ['plans', plan, { metadata }, ['/versions', { prices: [] }]],
    ['addons', addon, { metadata }, null],
    ['coupons', coupon, { metadata }, null],
    ['customers', { name: 'Ada' }, { metadata }, null],
    ['entitlements', { key: 'e', name: 'E', type: 'boolean' }, { metadata }, null],
    ['meters', { key: 'm', name: 'M', event_name: 'e', aggregation: 'count' }, { metadata }, null],
    ['tax-rates', { name: 'VAT', percentage: '19' }, { metadata }, null],
    [
      'webhooks/endpoints',
      { url: 'https://example.com/hooks', events: ['*'] },
      { metadata },
      ['/rotate-secret', {}],
    ],
    ['api-keys', { name: 'K', scopes: ['*'] }, { name: 'L' }, ['/roll', {}]],
  ] as const)('are not dated before it: %s', async (path, body, change, command) => {
    engine.clock.set('2026-03-01T00:00:00.000Z');
    const made = await engine.http.post(`/v1/${path}`).send(body).expect(201);
    const { id } = made.body as { id: string };
    engine.clock.set(changedAt);
    await engine.http.patch(`/v1/${path}/${id}`).send(change).expect(200);
    engine.clock.advanceMs(-3_000);
    if (command !== null) {
      const answer = await engine.http.post(`/v1/${path}/${id}${command[0]}`).send(command[1]);
      expect(answer.status).toBeLessThan(202);
      if (path === 'plans') expect(answer.body).toMatchObject({ created_at: changedAt });
    }
    await engine.http.delete(`/v1/${path}/${id}`);
    const { body: page } = await engine.http.get('/v1/events').query({ object_id: id });
    const { data } = page as { data: readonly { readonly timestamp: string }[] };
    expect(data).toHaveLength(command === null ? 3 : 4);
    const after = data.slice(0, -1).map(({ timestamp }) => timestamp);
    expect(new Set(after)).toEqual(new Set([changedAt]));
  });
});
