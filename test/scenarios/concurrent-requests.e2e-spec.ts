import { verifyLedger } from '../support/ledger';
import { randomFrom } from '../support/random';
import { SEED } from '../support/seed';
import { startTestApp, type TestApp } from '../support/test-app';

/**
 * Concurrent requests of all kinds about a few customers, to two processes on one database. None may fail, and afterwards
 * the ledger verifies, the events follow each other, and no sessions have deadlocked. The short form sends 600 requests;
 * `npm run campaign:concurrent` sends 20,000, or as many as `REQUESTS` says. `SEED` repeats the choices, not their order
 * in time.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const REQUESTS = Number(process.env['REQUESTS'] ?? (FULL ? 20_000 : 600));
const TIME_LIMIT_MS = FULL ? 3_600_000 : 300_000;
const CLIENTS = 12;
const CUSTOMERS = 3;
const START = '2026-01-31T10:00:00.000Z';
const HOUR_MS = 3_600_000;

interface Request {
  readonly method: 'post' | 'patch' | 'delete';
  readonly path: string;
  readonly body?: object;
}

interface Customer {
  readonly id: string;
  readonly clock: { readonly id: string; now: number };
  readonly subscriptions: string[];
}

interface Row {
  readonly id: string;
  readonly amount?: number;
  readonly amount_remaining?: number;
  readonly idempotency_key?: string;
  readonly lines?: readonly { readonly id: string; readonly amount: number }[];
}

describe('concurrent requests', () => {
  const random = randomFrom(SEED);
  const upTo = (most: number): number => 1 + Math.floor(random() * most);
  const isLikely = (part: number): boolean => random() < part;
  const pick = <One>(from: readonly One[]): One => from[upTo(from.length) - 1] as One;

  let engines: readonly [TestApp, TestApp];
  let sent = 0;
  let keys = 0;
  let event = '';
  let addon = '';
  let key = '';
  let plans: readonly string[] = [];
  let coupons: readonly string[] = [];
  const customers: Customer[] = [];

  const http = () => engines[(sent += 1) % 2 === 0 ? 0 : 1].http;
  const create = async (path: string, body: object): Promise<string> => {
    const answer = await http().post(`/v1/${path}`).send(body);
    expect({ path, body: answer.body }).toMatchObject({ body: { id: expect.anything() } });
    return (answer.body as Row).id;
  };
  const rows = async (path: string): Promise<readonly Row[]> => {
    const { body } = await http().get(`/v1/${path}`);
    expect({ path, body: body as object }).toMatchObject({ body: { data: expect.anything() } });
    return (body as { data: readonly Row[] }).data;
  };

  const post = (path: string, body: object = {}): Request => ({ method: 'post', path, body });

  /** Kinds of requests. Null: nothing to send it for. */
  const KINDS: Record<string, (of: Customer) => Promise<Request | null> | Request | null> = {
    subscribe: ({ id }) =>
      post('subscriptions', {
        ...{ customer_id: id, plan_id: pick(plans), quantity: String(upTo(9)) },
        ...(isLikely(0.3) && { coupon: pick(coupons) }),
        ...(isLikely(0.3) && { collection: 'send_invoice' }),
        ...(isLikely(0.2) && { addons: [{ addon_id: addon }] }),
      }),
    change: (one) =>
      onSubscription(one, 'change', {
        plan_id: pick(plans),
        quantity: String(upTo(9)),
        when: pick(['now', 'period_end']),
      }),
    cancel: (one) =>
      onSubscription(one, 'cancel', { when: pick(['now', 'period_end']), credit_unused: true }),
    uncancel: (one) => onSubscription(one, 'uncancel'),
    pause: (one) => onSubscription(one, 'pause'),
    resume: (one) => onSubscription(one, 'resume'),
    redeem: (one) => onSubscription(one, 'coupons', { code: pick(coupons) }),
    removeCoupon: async ({ subscriptions }) => {
      if (subscriptions.length === 0) return null;
      const path = `subscriptions/${pick(subscriptions)}/coupons`;
      const found = await rows(path);
      return found.length === 0 ? null : { method: 'delete', path: `${path}/${pick(found).id}` };
    },
    reportUsage: ({ id, clock }) =>
      post('usage-events', {
        events: Array.from({ length: upTo(9) }, () => ({
          idempotency_key: `event-${(keys += 1)}`,
          customer_id: id,
          event_name: event,
          timestamp: new Date(clock.now - upTo(900) * HOUR_MS).toISOString(),
          properties: { n: upTo(50) },
        })),
      }),
    voidUsage: async ({ id }) => {
      const found = await rows(`usage-events?customer_id=${id}&event_name=${event}&limit=20`);
      const { idempotency_key } = found.length === 0 ? {} : pick(found);
      return idempotency_key === undefined ? null : post('usage-events/void', { idempotency_key });
    },
    consume: ({ id }) =>
      post(`customers/${id}/entitlements/${key}/consume`, {
        quantity: String(upTo(5)),
        idempotency_key: `consumption-${(keys += 1)}`,
      }),
    grant: ({ id }) =>
      post(`customers/${id}/entitlements/${key}/grants`, { value: String(upTo(500)) }),
    invoice: ({ id }) =>
      post('invoices', {
        customer_id: id,
        currency: 'EUR',
        lines: [{ description: 'Work', amount: isLikely(0.2) ? -upTo(900) : upTo(4_000) }],
      }),
    onInvoice: async ({ id }) => {
      const found = await rows(`invoices?customer_id=${id}&limit=15`);
      if (found.length === 0) return null;
      const commands = ['finalize', 'void', 'reissue', 'mark-uncollectible', 'pay', 'pay'];
      return post(`invoices/${pick(found).id}/${pick(commands)}`);
    },
    credit: async ({ id }) => {
      const found = await rows(`invoices?customer_id=${id}&limit=15`);
      if (found.length === 0) return null;
      const { body } = await http().get(`/v1/invoices/${pick(found).id}`);
      const { id: invoice_id, lines = [] } = body as Row;
      if (lines.length === 0) return null;
      const line = pick(lines);
      const amount = upTo(Math.max(1, line.amount));
      return post('credit-notes', {
        ...{ invoice_id, reason: 'Test', settle: pick(['credit', 'refund']) },
        lines: [{ invoice_line_id: line.id, amount }],
      });
    },
    voidCredit: async ({ id }) => {
      const found = await rows(`credit-notes?customer_id=${id}&limit=15`);
      return found.length === 0 ? null : post(`credit-notes/${pick(found).id}/void`);
    },
    pay: ({ id }) => post('payments', { customer_id: id, amount: upTo(5_000), currency: 'EUR' }),
    payPart: async ({ id: customer_id }) => {
      const found = await rows(`invoices?customer_id=${customer_id}&status=open&limit=15`);
      if (found.length === 0) return null;
      const { id: invoice_id, amount_remaining = 1 } = pick(found);
      const amount = upTo(Math.max(1, amount_remaining));
      return post('payments', { customer_id, invoice_id, amount, currency: 'EUR' });
    },
    refund: async ({ id }) => {
      const found = await rows(`payments?customer_id=${id}&limit=15`);
      if (found.length === 0) return null;
      const { id: payment, amount = 1 } = pick(found);
      return post(`refunds/payment/${payment}`, { amount: upTo(amount) });
    },
    saveMethod: ({ id }) =>
      post(`customers/${id}/payment-methods`, {
        provider: 'sandbox',
        token: pick(['pm_sandbox_ok', 'pm_sandbox_ok', 'pm_sandbox_declined']),
        is_default: isLikely(0.6),
      }),
    detachMethod: async ({ id }) => {
      const path = `customers/${id}/payment-methods`;
      const found = await rows(path);
      return found.length === 0 ? null : { method: 'delete', path: `${path}/${pick(found).id}` };
    },
    updateCustomer: ({ id }) => ({
      method: 'patch',
      path: `customers/${id}`,
      body: pick([{ invoice_grace_hours: pick([0, 1, 30]) }, { timezone: 'Asia/Kolkata' }]),
    }),
    advance: ({ clock }) => {
      clock.now += upTo(40) * HOUR_MS;
      return post(`test-clocks/${clock.id}/advance`, { to: new Date(clock.now).toISOString() });
    },
  };

  function onSubscription(
    { subscriptions }: Customer,
    command: string,
    body: object = {},
  ): Request | null {
    if (subscriptions.length === 0) return null;
    return post(`subscriptions/${pick(subscriptions.slice(-6))}/${command}`, body);
  }

  beforeAll(async () => {
    const first = await startTestApp();
    engines = [first, await startTestApp({ databaseUrl: first.databaseUrl })];
    event = 'calls';
    const meter = { key: 'calls', event_name: event, aggregation: 'sum', value_property: 'n' };
    const meter_id = await create('meters', meter);
    key = 'calls';
    const entitlement = { key, name: 'Calls', type: 'metered', meter_id };
    const entitlement_id = await create('entitlements', entitlement);
    const base = { name: 'Base', model: 'flat', timing: 'in_advance', amount: 1_000 };
    const seats = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '700' };
    const calls = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '3' };
    const sold = { name: 'Plan', currency: 'EUR', interval: 'month' };
    plans = [
      await create('plans', { ...sold, code: 'a', prices: [base, { ...calls, meter_id }] }),
      await create('plans', { ...sold, code: 'b', prices: [base, seats] }),
      await create('plans', { ...sold, code: 'c', interval: 'week', prices: [seats] }),
      await create('plans', { ...sold, code: 'd', prices: [seats], trial_days: 10 }),
    ];
    addon = await create('addons', { code: 'more', name: 'More', currency: 'EUR', prices: [base] });
    await create('addon-entitlements', { addon_id: addon, entitlement_id, value: '100' });
    const forever = { duration: 'forever' };
    await create('coupons', { ...forever, code: 'PERCENT', type: 'percent', percent_off: '33.3' });
    const amount = { type: 'amount', amount_off: 777, currency: 'EUR', duration: 'once' };
    await create('coupons', { ...amount, code: 'AMOUNT' });
    coupons = ['PERCENT', 'AMOUNT'];
    for (let made = 0; made < CUSTOMERS; made += 1) {
      const clock = await create('test-clocks', { name: 'Clock', now: START });
      const id = await create('customers', { name: 'Ada', test_clock_id: clock });
      const subscriptions: string[] = [];
      customers.push({ id, clock: { id: clock, now: Date.parse(START) }, subscriptions });
    }
  }, TIME_LIMIT_MS);

  afterAll(async () => {
    await engines[1].close();
    await engines[0].close();
  });

  it(
    'of a few customers neither fail nor deadlock, and leave books that balance',
    async () => {
      process.stdout.write(`concurrent requests: ${REQUESTS}, SEED=${SEED}\n`);
      const statuses = new Map<string, number>();
      let left = REQUESTS;
      const client = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const customer = pick(customers);
          const kind = pick(Object.keys(KINDS));
          const request = (await KINDS[kind]?.(customer)) ?? null;
          if (request === null) continue;
          const { method, path, body } = request;
          const answer = await http()[method](`/v1/${path}`).send(body);
          const { id, code = '' } = (answer.body ?? {}) as { id?: string; code?: string };
          const outcome = `${kind} ${answer.status} ${code}`.trim();
          statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
          if (kind === 'subscribe' && id !== undefined) customer.subscriptions.push(id);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      const failed = [...statuses.keys()].filter((outcome) => / 5\d\d/.test(outcome));
      const succeeded = [...statuses.keys()].filter((outcome) => / 2\d\d/.test(outcome));
      const shown = [...statuses].map(([outcome, count]) => `${count} ${outcome}`).sort();
      expect({ failed, shown: failed.length > 0 ? shown : [] }).toEqual({ failed: [], shown: [] });
      if (REQUESTS >= 600) expect(succeeded.length).toBeGreaterThan(15);
      expect(await verifyLedger(engines[0])).toMatchObject({ ok: true });
    },
    TIME_LIMIT_MS,
  );
});
