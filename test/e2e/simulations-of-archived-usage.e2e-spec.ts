import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { DueUsageArchive } from '../../src/modules/billing/usage/due-usage-archive';
import { createCustomer, createMeter } from '../support/billing';
import { post } from '../support/requests';
import { startTestApp } from '../support/test-app';

it('a simulation of a percentage over archived usage names a customer whose usage is archived', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'simulated-archive-'));
  const engine = await startTestApp({
    environment: { USAGE_RETENTION_MONTHS: '3', USAGE_ARCHIVE_DIRECTORY: directory },
  });
  try {
    engine.clock.set('2026-02-01T00:00:00.000Z');
    const meterId = await createMeter(engine, { aggregation: 'sum', value_property: 'n' });
    const usage = { name: 'Fee', timing: 'in_arrears', meter_id: meterId };
    const percentage = { ...usage, model: 'percentage', rate: '0.02' };
    const plan = { code: 'fee', name: 'Fee', currency: 'USD', interval: 'month' };
    const { id: planId } = await post(engine, '/v1/plans', { ...plan, prices: [percentage] });
    const customerId = await createCustomer(engine);
    const subscription = { customer_id: customerId, plan_id: planId, collection: 'send_invoice' };
    await post(engine, '/v1/subscriptions', subscription);
    await post(engine, '/v1/usage-events', {
      idempotency_key: 'used-1',
      customer_id: customerId,
      event_name: 'api_call',
      timestamp: '2026-02-01T00:00:00.000Z',
      properties: { n: 10_000 },
    });
    for (const month of ['03', '04', '05', '06', '07', '08']) {
      engine.clock.set(`2026-${month}-02T00:00:00.000Z`);
      while (await engine.app.get(DueSubscriptions).runDue()) continue;
      while (await engine.app.get(DueUsageArchive).runDue()) continue;
    }

    const simulate = async (price: object, from: string): Promise<string> => {
      const body = { plan_id: planId, prices: [price], from, to: '2026-08-01T00:00:00.000Z' };
      return (await engine.http.post('/v1/prices/simulations').send(body).expect(200)).text;
    };
    const archived = await simulate(percentage, '2026-01-01T00:00:00.000Z');
    expect(archived).toContain('"code":"usage_archived"');
    expect(archived).toContain(`each event of customer ${customerId}`);
    const later = await simulate(percentage, '2026-04-01T00:00:00.000Z');
    expect(later).toContain('"type":"totals"');
    const perUnit = { ...usage, model: 'per_unit', unit_amount: '0.02' };
    const byTotals = await simulate(perUnit, '2026-01-01T00:00:00.000Z');
    expect(byTotals).toContain('"old_amount":200,"new_amount":200');
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
});
