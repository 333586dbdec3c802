/**
 * Creates the data of a company, "Northwind Cloud": 200 customers, six plans, three meters and a year of history, with
 * failures, refunds, credit notes, coupons and webhooks. 60 customers are on two test clocks, which are advanced
 * through the year. Analytics leave out customers on test clocks, so the other 140 are in real time, and their
 * subscriptions began in the past. The figures come from a fixed random sequence, so that each run creates the same
 * company.
 */
import { createServer } from 'node:http';
import { baseUrl, DemoError, parse, request } from './demo-client.mjs';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_CONCURRENT_ITEMS = 12;
const CUSTOMERS = 200;
const MONTHS = 12;
/** Longest wait for the invoices of subscriptions that began in the past. They are created in the background. */
const MAX_WAIT_FOR_BILLING_MS = 120_000;

/** Returns a generator of pseudo-random numbers from 0 to 1 (mulberry32). The same seed gives the same numbers. */
function sequence(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = sequence(7);
const between = (least, most) => least + Math.floor(random() * (most - least + 1));
const iso = (milliseconds) => new Date(milliseconds).toISOString();

async function send(method, path, body, headers = {}) {
  const { status, text } = await request(method, `/v1/${path}`, { body, headers });
  if (status < 300) return parse(text);
  throw new DemoError(`${method} /v1/${path}: ${status}\n${text.slice(0, 1_000)}`);
}

const post = (path, body, headers) => send('POST', path, body, headers);
const get = (path) => send('GET', path);

/** Runs the work for every item, for a limited number of items at once. */
async function forEach(items, work) {
  const rest = items.entries();
  const worker = async () => {
    for (const [index, item] of rest) await work(item, index);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_ITEMS }, worker));
}

async function list(path) {
  const rows = [];
  let cursor = null;
  do {
    const join = path.includes('?') ? '&' : '?';
    const page = await get(
      `${path}${join}limit=100${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    rows.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return rows;
}

const base = (amount) => ({ name: 'Base fee', model: 'flat', timing: 'in_advance', amount });

async function createMeters() {
  const calls = await post('meters', {
    key: 'api_calls',
    name: 'API calls',
    event_name: 'api_call_batch',
    aggregation: 'sum',
    value_property: 'calls',
    group_by: ['region'],
  });
  const storage = await post('meters', {
    key: 'storage_gb',
    name: 'Storage in GB, highest',
    event_name: 'storage_measured',
    aggregation: 'max',
    value_property: 'gigabytes',
  });
  const builds = await post('meters', {
    key: 'builds',
    name: 'Builds',
    event_name: 'build_finished',
    aggregation: 'count',
    group_by: ['outcome'],
  });
  return { calls: calls.id, storage: storage.id, builds: builds.id };
}

async function createPlans({ calls, storage, builds }) {
  const metered = { timing: 'in_arrears' };
  const callTiers = {
    ...metered,
    name: 'API calls',
    model: 'graduated',
    meter_id: calls,
    tiers: [
      { up_to: '100000', unit_amount: '0' },
      { up_to: '1000000', unit_amount: '0.02' },
      { up_to: null, unit_amount: '0.0125' },
    ],
  };
  const storagePrice = {
    ...metered,
    name: 'Storage, per GB',
    model: 'volume',
    meter_id: storage,
    tiers: [
      { up_to: '500', unit_amount: '10' },
      { up_to: null, unit_amount: '8' },
    ],
  };
  const buildPrice = {
    ...metered,
    name: 'Builds, per 100',
    model: 'package',
    meter_id: builds,
    unit_amount: '250',
    package_size: '100',
    free_units: '50',
  };
  const seats = {
    name: 'Seats',
    model: 'per_unit',
    timing: 'in_advance',
    unit_amount: '1500',
  };
  const month = { currency: 'USD', interval: 'month' };
  const plans = [
    { ...month, code: 'starter', name: 'Starter', prices: [base(1_900), callTiers] },
    { ...month, code: 'team', name: 'Team', prices: [seats, callTiers, buildPrice] },
    {
      ...month,
      code: 'business',
      name: 'Business',
      prices: [base(19_900), callTiers, storagePrice, buildPrice],
    },
    { ...month, code: 'scale', name: 'Scale', prices: [base(49_900), callTiers, storagePrice] },
    {
      currency: 'USD',
      interval: 'year',
      code: 'enterprise',
      name: 'Enterprise, yearly',
      prices: [base(1_200_000)],
    },
    {
      currency: 'EUR',
      interval: 'month',
      code: 'business-eur',
      name: 'Business (EUR)',
      prices: [base(18_900), storagePrice],
    },
  ];
  const made = new Map();
  for (const plan of plans) made.set(plan.code, (await post('plans', plan)).id);
  return made;
}

const FIRST_NAMES =
  'Amber Birch Cedar Delta Ember Fjord Granite Harbor Iris Juniper Kestrel Lumen Maple Nimbus Orchid Pioneer Quartz River Summit Tundra'.split(
    ' ',
  );
const LAST_NAMES =
  'Analytics|Bakery Group|Clinics|Design|Energy|Freight|Games|Hotels|Insurance|Labs'.split('|');

/** Codes of the plans of customers. A code that appears more often gets more customers. */
const PLAN_CODES = [
  ...Array(7).fill('starter'),
  ...Array(6).fill('team'),
  ...Array(4).fill('business'),
  ...Array(2).fill('scale'),
  'enterprise',
  ...Array(2).fill('business-eur'),
];

/** Returns the token of the payment method of a customer. It decides how the sandbox answers charges. */
function paymentToken(number) {
  if (number % 17 === 5) return 'pm_sandbox_declined';
  if (number % 29 === 11) return 'pm_sandbox_insufficient_funds';
  return 'pm_sandbox_ok';
}

async function createCustomer(number, clocks) {
  const first = FIRST_NAMES[number % FIRST_NAMES.length];
  const last = LAST_NAMES[Math.floor(number / FIRST_NAMES.length)];
  const name = `${first} ${last}`;
  const isRealTime = number % 10 < 7;
  const clock = isRealTime ? null : clocks[number % clocks.length];
  const planCode = PLAN_CODES[(number * 7) % PLAN_CODES.length];
  const { id } = await post('customers', {
    name,
    email: `billing@${name.toLowerCase().replaceAll(' ', '-')}.example`,
    external_id: `crm-${1_000 + number}`,
    ...(clock !== null && { test_clock_id: clock.id }),
    ...(planCode === 'business-eur' && { address: { country: 'DE' } }),
  });
  const sendsInvoice = number % 13 === 3;
  if (!sendsInvoice) {
    const token = paymentToken(number);
    const method = { provider: 'sandbox', token, is_default: true };
    await post(`customers/${id}/payment-methods`, method);
  }
  return { id, number, planCode, clock, isRealTime, sendsInvoice, size: between(1, 12) };
}

/** Returns the usage events of a customer on a day, each with a unique idempotency key. */
function usageOf({ id, number, size }, day, index) {
  const at = (hour) => iso(day + hour * HOUR_MS + between(0, 3_599) * 1_000);
  const event = (name, hour, properties) => ({
    idempotency_key: `story-${id}-${name}-${day}-${index}-${hour}`,
    customer_id: id,
    event_name: name,
    timestamp: at(hour),
    properties,
  });
  const regions = ['eu', 'us', 'ap'];
  return [
    event('api_call_batch', between(6, 19), {
      calls: between(2_000, 9_000) * size,
      region: regions[(number + index) % regions.length],
    }),
    event('storage_measured', 20, { gigabytes: 20 * size + index }),
    event('build_finished', between(8, 18), { outcome: random() < 0.85 ? 'passed' : 'failed' }),
  ];
}

async function reportUsage(customers, from, until) {
  const days = Math.floor((until - from) / DAY_MS);
  const events = customers.flatMap((customer) =>
    Array.from({ length: Math.ceil(days / 6) }, (_, index) =>
      usageOf(customer, from + index * 6 * DAY_MS, index),
    ).flat(),
  );
  const due = events.filter(({ timestamp }) => Date.parse(timestamp) < until);
  if (due.length === 0) return;
  await post('usage-events', due.map((event) => JSON.stringify(event)).join('\n'));
}

function subscriptionOf({ id, planCode, number, sendsInvoice, size }, plans) {
  return {
    customer_id: id,
    plan_id: plans.get(planCode),
    ...(planCode === 'team' && { quantity: String(size + 2) }),
    ...(sendsInvoice && { collection: 'send_invoice', days_until_due: 14 }),
    ...(number % 11 === 4 && planCode !== 'business-eur' && { coupon: 'LAUNCH20' }),
  };
}

/** Creates subscriptions and usage on a test clock, while the clock is advanced month by month through the year. */
async function createHistoryOnClock(clock, customers, plans) {
  for (let month = 0; month < MONTHS; month += 1) {
    const from = clock.months[month];
    const until = clock.months[month + 1];
    await forEach(
      customers.filter(({ number }) => number % MONTHS === month),
      (customer) => post('subscriptions', subscriptionOf(customer, plans)),
    );
    // Usage must not be later than the clock, and must belong to the month that is about to end.
    const lastHour = until - HOUR_MS;
    await post(`test-clocks/${clock.id}/advance`, { to: iso(lastHour) });
    await reportUsage(
      customers.filter(({ number }) => number % MONTHS <= month),
      from,
      lastHour,
    );
    await post(`test-clocks/${clock.id}/advance`, { to: iso(until) });
  }
}

/**
 * Creates usage, and subscriptions that began up to a year ago, for the customers in real time. The engine bills the
 * periods since then in the background.
 */
async function createHistoryInRealTime(customers, plans, now) {
  const startOf = ({ number }) => now - ((number * 37) % 300) * DAY_MS - 5 * DAY_MS;
  for (let month = 0; month < MONTHS + 1; month += 1) {
    const from = now - (MONTHS + 1 - month) * 30 * DAY_MS;
    const until = Math.min(now, from + 30 * DAY_MS);
    await reportUsage(
      customers.filter((customer) => startOf(customer) < from),
      from,
      until,
    );
  }
  await reportUsage(customers, now - 6 * DAY_MS, now);
  await forEach(customers, (customer) =>
    post('subscriptions', {
      ...subscriptionOf(customer, plans),
      start_at: iso(startOf(customer)),
    }),
  );
}

/** Waits until every period that has ended in real time is billed, or until the longest wait is over. */
async function waitUntilBilled(customers) {
  const own = new Set(customers.map(({ id }) => id));
  const deadline = Date.now() + MAX_WAIT_FOR_BILLING_MS;
  for (;;) {
    const subscriptions = await list('subscriptions?status=active,past_due');
    const now = iso(Date.now());
    const behind = subscriptions.filter(
      ({ customer_id: id, current_period_end: end }) => own.has(id) && end < now,
    );
    if (behind.length === 0 || Date.now() > deadline) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function startReceiver() {
  const server = createServer((received, response) => {
    received.resume();
    const isBroken = received.url?.startsWith('/broken') ?? false;
    response.statusCode = isBroken ? 500 : 200;
    response.end(isBroken ? 'The table "orders" is locked.' : 'ok');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Creates an endpoint that works, and one that fails. Both receive the events recorded from now on. */
async function createEndpoints(port) {
  const events = ['refund.*', 'credit_note.*', 'subscription.*', 'invoice.*'];
  const works = await post('webhooks/endpoints', {
    url: `http://127.0.0.1:${port}/billing`,
    description: 'Accounting',
    events,
  });
  const fails = await post('webhooks/endpoints', {
    url: `http://127.0.0.1:${port}/broken/orders`,
    description: 'Order system, which fails',
    events,
  });
  for (const { id } of [works, fails, fails]) await post(`webhooks/endpoints/${id}/test`, {});
}

async function refundAndCredit() {
  const payments = await list('payments?status=succeeded');
  const reasons = ['Duplicate charge', 'Service was down', 'Goodwill', 'Wrong plan'];
  // Refunds only payments that were applied to invoices in full. The unapplied rest of a payment becomes customer credit,
  // which may have been used.
  const refunded = payments
    .filter(({ amount, amount_applied: applied }, index) => amount === applied && index % 61 === 7)
    .slice(0, 16);
  await forEach(refunded, ({ id, amount }, index) =>
    post(`refunds/payment/${id}`, {
      amount: index % 3 === 0 ? amount : Math.ceil(amount / 4),
      reason: reasons[index % reasons.length],
    }),
  );
  // A refunded amount cannot be credited as well.
  const ofRefunds = new Set(refunded.map((payment) => payment.invoice_id));
  const invoices = (await list('invoices?status=paid')).filter(({ id }) => !ofRefunds.has(id));
  const credited = invoices
    .filter(({ lines }, index) => index % 83 === 11 && lines.some((one) => one.amount > 0))
    .slice(0, 8);
  await forEach(credited, ({ id, lines }) => {
    const line = lines.find(({ amount }) => amount > 0);
    return post('credit-notes', {
      invoice_id: id,
      lines: [{ invoice_line_id: line.id, amount: Math.ceil(line.amount / 2) }],
      reason: 'Agreed with the account manager',
      settle: 'credit',
    });
  });
}

/** Upgrades, downgrades and cancels subscriptions of the customers in real time. */
async function changeSubscriptions(customers, plans) {
  const byCustomer = new Map(customers.map((customer) => [customer.id, customer]));
  const subscriptions = (await list('subscriptions?status=active')).filter((one) =>
    byCustomer.has(one.customer_id),
  );
  const ofPlan = (code) => subscriptions.filter(({ plan_id: id }) => id === plans.get(code));
  const now = { when: 'now' };
  await forEach(ofPlan('starter').slice(0, 4), ({ id }) =>
    post(`subscriptions/${id}/change`, { ...now, plan_id: plans.get('business') }),
  );
  await forEach(ofPlan('team').slice(0, 5), ({ id, quantity }) =>
    post(`subscriptions/${id}/change`, { ...now, quantity: String(Number(quantity) + 5) }),
  );
  await forEach(ofPlan('business').slice(0, 2), ({ id }) =>
    post(`subscriptions/${id}/change`, { ...now, plan_id: plans.get('starter') }),
  );
  await forEach(ofPlan('starter').slice(5, 8), ({ id }) =>
    post(`subscriptions/${id}/cancel`, { ...now, credit_unused: false }),
  );
  await forEach(ofPlan('scale').slice(0, 1), ({ id }) =>
    post(`subscriptions/${id}/cancel`, { when: 'period_end' }),
  );
}

async function createOneOffInvoices(customers) {
  const chosen = customers.filter(({ planCode }) => planCode !== 'business-eur');
  await forEach(chosen.slice(0, 5), async ({ id }, index) => {
    const invoice = await post('invoices', {
      customer_id: id,
      currency: 'USD',
      lines: [{ description: 'Onboarding workshop', amount: 45_000 }],
      collection: 'send_invoice',
      days_until_due: 30,
    });
    if (index < 2) await post(`invoices/${invoice.id}/finalize`, {});
  });
}

async function createClocks(now) {
  const end = new Date(now);
  const monthsOf = (offset) =>
    Array.from({ length: MONTHS + 1 }, (_, month) =>
      Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - MONTHS + month, 1 + offset),
    );
  return Promise.all(
    ['Northern region', 'Southern region'].map(async (name, index) => {
      const months = monthsOf(index * 5);
      const { id } = await post('test-clocks', { name, now: iso(months[0]) });
      return { id, months };
    }),
  );
}

/**
 * Creates the story. A database can contain it only once.
 * @throws {DemoError} if its plans already exist, or if the service refuses a request
 */
export async function tellStory() {
  const plansThere = await list('plans');
  if (plansThere.some(({ code }) => code === 'starter')) {
    throw new DemoError(
      'The story is there already, with its plan `starter`. Start the service with another DATA_DIR to create it again.',
    );
  }
  const startedAt = Date.now();
  const step = (text) =>
    console.log(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${text}`);
  const receiver = await startReceiver();
  try {
    const plans = await createPlans(await createMeters());
    await post('coupons', {
      code: 'LAUNCH20',
      name: 'Launch offer',
      type: 'percent',
      percent_off: '20',
      duration: 'repeating',
      duration_in_months: 6,
    });
    await post('addons', {
      code: 'priority-support',
      name: 'Priority support',
      currency: 'USD',
      prices: [base(9_900)],
    });
    const clocks = await createClocks(startedAt);
    step('plans, meters and test clocks');
    const customers = [];
    await forEach(Array(CUSTOMERS).fill(0), async (_, number) => {
      customers[number] = await createCustomer(number, clocks);
    });
    step(`${CUSTOMERS} customers`);
    const inRealTime = customers.filter(({ isRealTime }) => isRealTime);
    await createHistoryInRealTime(inRealTime, plans, startedAt);
    await Promise.all(
      clocks.map((clock) =>
        createHistoryOnClock(
          clock,
          customers.filter((one) => one.clock === clock),
          plans,
        ),
      ),
    );
    step('a year on the test clocks');
    await waitUntilBilled(inRealTime);
    step('a year in real time');
    await createEndpoints(receiver.address().port);
    // Runs before the changes: they credit parts of payments, and credited parts cannot be refunded.
    await refundAndCredit();
    await changeSubscriptions(inRealTime, plans);
    await createOneOffInvoices(inRealTime);
    step('changes, refunds and credit notes');
    // Leaves time for the first delivery attempts.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
  const { count } = await get('invoices/summary');
  step(`done: ${count} invoices. Open ${baseUrl}/studio`);
}
