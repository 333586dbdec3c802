/** @own-modules Wraps the methods of all services. */
import { callsNotDown, recordModuleCalls } from '../support/module-calls';
import { startTestApp, Story, type TestApp } from '../support/story';

/** Hooks, where a lower module calls a higher one on purpose (docs/architecture.md). */
const HOOKS = [
  // The usage hook: an event updates the entitlement balances in its own commit.
  'metering -> entitlements',
  // Test-clock participants: jobs that run while a clock advances, and purges when it is deleted.
  /^test-clocks -> /,
  // Ledger checks: the books are compared with the rows of other modules.
  /^ledger -> /,
];

const isHook = (call: string): boolean =>
  HOOKS.some((hook) => (typeof hook === 'string' ? hook === call : hook.test(call)));

describe('modules', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });
  afterAll(() => engine.close());

  const post = async (path: string, body: object = {}): Promise<{ id: string }> => {
    const answer = await engine.http.post(path).send(body);
    expect([200, 201]).toContain(answer.status);
    return answer.body as { id: string };
  };

  it('call only modules of lower layers, except through hooks', async () => {
    const calls = recordModuleCalls(engine);
    const story = await Story.begin(engine, '2026-03-01T00:00:00Z', { invoice_grace_hours: 24 });
    const methods = `/v1/customers/${story.customerId}/payment-methods`;
    await post(methods, { provider: 'sandbox', token: 'pm_sandbox_declined' });
    const meter = await story.meter();
    const feature = await post('/v1/entitlements', {
      key: 'calls',
      name: 'Calls',
      type: 'metered',
      meter_id: meter.id,
    });
    const plan = await story.planOf(
      [
        { name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_100 },
        {
          name: 'Calls',
          model: 'per_unit',
          timing: 'in_arrears',
          meter_id: meter.id,
          unit_amount: '2',
        },
      ],
      { entitlements: [{ entitlement_id: feature.id, value: '10' }] },
    );
    const seats = await story.seats('1000');
    const metered = await story.subscribe(plan.id);
    const perSeat = await story.subscribe(seats, { payment_behavior: 'default_incomplete' });
    await story.reportUsage(meter.event, '2026-03-01T00:00:00Z', { n: 4 });
    await story.usage();
    await engine.http.get(`/v1/customers/${story.customerId}/entitlements/calls`);
    await story.advance('2026-03-03T00:00:00Z');
    await post(methods, { provider: 'sandbox', token: 'pm_sandbox_ok', is_default: true });
    await story.advance('2026-03-10T00:00:00Z');
    expect((await story.subscription(perSeat.id)).status).toBe('incomplete_expired');
    await story.command(metered.id, 'pause');
    await story.command(metered.id, 'resume');
    await story.command(metered.id, 'change', { plan_id: seats, when: 'now' });
    await story.advance('2026-04-03T00:00:00Z');
    await story.command(metered.id, 'cancel', { when: 'now', credit_unused: true });

    const draft = await post('/v1/invoices', {
      customer_id: story.customerId,
      lines: [{ description: 'Setup', amount: 90_000 }],
    });
    await post(`/v1/invoices/${draft.id}/finalize`);
    await post(`/v1/invoices/${draft.id}/void`);
    await post(`/v1/invoices/${draft.id}/reissue`);
    const payment = await post('/v1/payments', {
      customer_id: story.customerId,
      amount: 500,
      currency: 'USD',
    });
    await post(`/v1/refunds/payment/${payment.id}`, { amount: 200 });
    const proof = await engine.http.get(`/v1/meters/${meter.id}/proof`).query({
      customer_id: story.customerId,
      from: '2026-03-01T00:00:00Z',
      to: '2026-04-01T00:00:00Z',
    });
    expect(proof.status).toBe(200);
    await engine.http.get('/v1/ledger/verify');
    await engine.http.delete(`/v1/customers/${story.customerId}`);
    await engine.http.delete(`/v1/test-clocks/${story.clockId}`);

    expect(calls).toContain('billing -> invoicing');
    expect(calls).toContain('billing -> entitlements');
    expect(calls).toContain('metering -> entitlements');
    expect(calls).toContain('test-clocks -> billing');
    expect(callsNotDown(calls).filter((call) => !isHook(call))).toEqual([]);
  });

  it('are found to call upward where they do', () => {
    const calls = new Set([
      'billing -> invoicing',
      'invoicing -> billing',
      'payments -> entitlements',
    ]);
    expect(callsNotDown(calls)).toEqual(['invoicing -> billing', 'payments -> entitlements']);
  });
});
