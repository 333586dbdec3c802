/**
 * Sends requests to a running service and prints each with its response: `npm run demo`. Set PORT as for `npm start`, or
 * BASE_URL to the address of a service elsewhere. Can be repeated: codes and keys are new in each run. Stops with exit
 * code 1 at the first unexpected response. Needs no dependency and no build. `npm run demo -- --story` creates the data of a
 * company instead.
 */
import { isDeepStrictEqual } from 'node:util';
import { baseUrl, DemoError, expectService, parse, request } from './demo-client.mjs';
import { tellStory } from './demo-story.mjs';

const run = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 6)}`;

function indent(value) {
  return JSON.stringify(value, null, 2).replaceAll(/^/gm, '  ');
}

/** Returns true when `actual` has every property of `expected`; arrays are compared item by item. */
function holds(actual, expected) {
  if (typeof expected !== 'object' || expected === null) return isDeepStrictEqual(actual, expected);
  if (typeof actual !== 'object' || actual === null) return false;
  if (Array.isArray(expected) && actual.length !== expected.length) return false;
  return Object.entries(expected).every(([key, value]) => holds(actual[key], value));
}

/**
 * Sends a request, prints it with its response, and checks the response.
 * @param expected `status`, properties of the body (`answer`) and `headers` that the response must have
 */
async function call(method, path, { body, headers = {}, expected }) {
  console.log(`\n${method} ${path}`);
  for (const [name, value] of Object.entries(headers)) console.log(`  ${name}: ${value}`);
  if (body !== undefined) console.log(indent(body));
  const response = await request(method, path, { body, headers });
  const answer = parse(response.text);
  console.log(`→ ${response.status}`);
  for (const name of Object.keys(expected.headers ?? {})) {
    console.log(`  ${name}: ${response.headers.get(name)}`);
  }
  if (answer !== undefined) console.log(indent(answer));
  else if (response.text !== '') console.log(`  ${response.text.slice(0, 500)}`);

  const faults = [];
  if (response.status !== expected.status) faults.push(`expected status ${expected.status}`);
  if (expected.answer !== undefined && !holds(answer, expected.answer)) {
    faults.push(`expected the response to contain\n${indent(expected.answer)}`);
  }
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    if (response.headers.get(name) !== value) faults.push(`expected ${name}: ${value}`);
  }
  if (faults.length > 0) throw new DemoError(`${method} ${path}: ${faults.join('; ')}`);
  return { answer, text: response.text };
}

function chapter(title) {
  console.log(`\n\n== ${title}`);
}

function create(path, body, answer = {}) {
  return call('POST', path, { body, expected: { status: 201, answer } });
}

async function payAndRefund() {
  chapter('A customer pays 100.00 USD');
  const customer = await create('/v1/customers', {
    name: 'Analytical Engines Ltd',
    email: 'billing@example.com',
    external_id: `demo-${run}`,
  });
  const payment = await create(
    '/v1/payments',
    {
      customer_id: customer.answer.id,
      amount: 10_000,
      currency: 'USD',
      payment_method_id: 'pm_sandbox_ok',
    },
    { status: 'succeeded', amount_refunded: 0 },
  );
  const paymentId = payment.answer.id;

  chapter('Refund a part of it');
  const path = `/v1/refunds/payment/${paymentId}`;
  const body = { amount: 2_500, reason: 'Arrived broken', idempotencyKey: `demo-refund-${run}` };
  const refund = await create(path, body, { status: 'succeeded', payment_id: paymentId, ...body });

  chapter('Repeat the request with the same key: the same response, and no second refund');
  const repeated = await call('POST', path, {
    body,
    expected: { status: 201, answer: refund.answer, headers: { 'Idempotent-Replayed': 'true' } },
  });
  if (repeated.text !== refund.text)
    throw new DemoError('The response to the repeated request differs.');

  chapter('A refund beyond the rest is refused; the payment shows the refunded amount');
  await call('POST', path, {
    body: { amount: 7_501, reason: 'Too much' },
    expected: {
      status: 422,
      answer: { code: 'refund_amount_exceeds_refundable', refundable_amount: 7_500 },
    },
  });
  await call('GET', `/v1/payments/${paymentId}`, {
    expected: { status: 200, answer: { amount_refunded: 2_500, amount_refund_pending: 0 } },
  });
}

async function linkAddon() {
  chapter('Link an add-on to an entitlement');
  const addon = await create('/v1/addons', {
    code: `extra-seats-${run}`,
    name: 'Extra seats',
    currency: 'USD',
    prices: [{ name: 'Extra seats', model: 'per_unit', timing: 'in_advance', unit_amount: '1250' }],
  });
  const entitlement = await create('/v1/entitlements', {
    key: `seats.${run}`,
    name: 'Seats',
    type: 'static',
    unit: 'seats',
  });
  const terms = { addon_id: addon.answer.id, entitlement_id: entitlement.answer.id, value: '5' };
  const link = await create('/v1/addon-entitlements', terms, terms);
  await call('GET', `/v1/addon-entitlements?addon_id=${addon.answer.id}`, {
    expected: { status: 200, answer: [link.answer] },
  });
}

async function switchOffCoupon() {
  chapter('Deactivate a coupon');
  const coupon = await create(
    '/v1/coupons',
    {
      code: `WELCOME-${run}`,
      name: 'Welcome',
      type: 'percent',
      percent_off: '20',
      duration: 'once',
    },
    { is_active: true },
  );
  await call('PATCH', `/v1/coupons/${coupon.answer.id}`, {
    body: { is_active: false, metadata: { campaign: 'spring' } },
    expected: { status: 200, answer: { is_active: false, metadata: { campaign: 'spring' } } },
  });
}

async function renameAdmin() {
  chapter('Rename a studio admin; no response contains the password hash');
  const admin = await create('/v1/studio', {
    email: `ada-${run}@example.com`,
    name: 'Ada Byron',
    passwordHash: '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW',
  });
  const renamed = await call('PATCH', `/v1/studio/${admin.answer.id}`, {
    body: { name: 'Ada Lovelace' },
    expected: { status: 200, answer: { name: 'Ada Lovelace', password_scheme: 'bcrypt' } },
  });
  if (/passwordHash|\$2b\$/.test(admin.text + renamed.text)) {
    throw new DemoError('A response contains the password hash.');
  }
}

async function registerWebhookEndpoint() {
  chapter(
    'Register a webhook endpoint for refund and payment events, then delete it, because no server listens there',
  );
  const endpoint = await create(
    '/v1/webhooks/endpoints',
    { url: `https://hooks.example.com/billing/${run}`, events: ['refund.succeeded', 'payment.*'] },
    { success: true },
  );
  await call('DELETE', `/v1/webhooks/endpoints/${endpoint.answer.id}`, {
    expected: { status: 204 },
  });
}

async function walkThrough() {
  console.log(`Billing engine at ${baseUrl}; run ${run}`);
  await payAndRefund();
  await linkAddon();
  await switchOffCoupon();
  await renameAdmin();
  await registerWebhookEndpoint();
  console.log('\n\nAll responses are as expected.');
}

try {
  await expectService();
  if (process.argv.includes('--story')) await tellStory();
  else await walkThrough();
} catch (error) {
  if (!(error instanceof DemoError)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
