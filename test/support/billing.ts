import { post } from './requests';
import type { TestApp } from './test-app';

let metersMade = 0;
let plansMade = 0;

export async function createCustomer(engine: TestApp, fields: object = {}): Promise<string> {
  return (await post(engine, '/v1/customers', { name: 'Ada Lovelace', ...fields })).id;
}

/** Creates a payment of 100.00 USD that succeeded, unless the fields say otherwise. */
export async function createPayment(engine: TestApp, fields: object = {}): Promise<string> {
  const customer = await createCustomer(engine);
  const body = { customer_id: customer, amount: 10_000, currency: 'USD', ...fields };
  return (await post(engine, '/v1/payments', body)).id;
}

/** Creates a meter that counts events named `api_call`, unless the fields say otherwise. */
export async function createMeter(engine: TestApp, fields: object = {}): Promise<string> {
  metersMade += 1;
  const meter = { key: `test_meter_${metersMade}`, event_name: 'api_call', aggregation: 'count' };
  return (await post(engine, '/v1/meters', { ...meter, ...fields })).id;
}

/** Creates a plan without prices; returns its id. */
export async function createPlan(engine: TestApp): Promise<string> {
  plansMade += 1;
  const terms = { name: 'Plan', currency: 'USD', interval: 'month', prices: [] };
  return (await post(engine, '/v1/plans', { code: `test-plan-${plansMade}`, ...terms })).id;
}
