import { createPayment } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';
import { type Answer, breaches, operations } from './contract';

/** A service that gives a response of every kind that the contract describes. */
interface Service {
  /** Sends a request by method and path of the contract, with path parameters and a body or query. */
  call(operation: string, fill: Readonly<Record<string, string>>, send: object): Promise<Answer>;
}

describe('the five specified operations', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const service: Service = {
    async call(operation, fill, send) {
      const [method = '', template = ''] = operation.split(' ');
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => fill[name] ?? '');
      const verb = method.toLowerCase() as 'get' | 'post' | 'patch';
      const request = engine.http[verb](path).set('Content-Type', 'application/json');
      const answer = await (verb === 'get' ? request.query(send) : request.send(send));
      return {
        status: answer.status,
        contentType: answer.headers['content-type'] ?? '',
        body: answer.body as unknown,
      };
    },
  };

  async function made(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(path).send(body);
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  }

  const PASSWORD_HASH = '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW';

  interface Case {
    readonly operation: string;
    readonly fill: Readonly<Record<string, string>>;
    readonly send: object;
    readonly status: number;
  }

  async function cases(): Promise<readonly Case[]> {
    const payment = await createPayment(engine);
    const pending = await createPayment(engine, { payment_method_id: 'pm_sandbox_pending' });
    const addon = await made('/v1/addons', {
      code: 'seats',
      name: 'Seats',
      currency: 'USD',
      prices: [],
    });
    const entitlement = await made('/v1/entitlements', {
      key: 'seats',
      name: 'Seats',
      type: 'static',
    });
    await made('/v1/addon-entitlements', {
      addon_id: addon,
      entitlement_id: entitlement,
      value: '5',
      metadata: { note: null },
    });
    const admin = await made('/v1/studio', {
      email: 'ada@example.com',
      name: 'Ada',
      passwordHash: PASSWORD_HASH,
    });
    const coupon = await made('/v1/coupons', {
      type: 'percent',
      percent_off: '20',
      duration: 'once',
    });
    const list = 'GET /v1/addon-entitlements';
    const refund = 'POST /v1/refunds/payment/{paymentId}';
    const studio = 'PATCH /v1/studio/{id}';
    const coupons = 'PATCH /v1/coupons/{id}';
    const webhooks = 'POST /v1/webhooks/endpoints';
    const url = 'https://receiver.example.com/billing';
    return [
      { operation: list, fill: {}, send: { addon_id: addon }, status: 200 },
      { operation: list, fill: {}, send: { addon_id: 'unknown' }, status: 200 },
      { operation: list, fill: {}, send: { addon_id: '' }, status: 400 },
      { operation: list, fill: {}, send: {}, status: 400 },
      {
        operation: refund,
        fill: { paymentId: payment },
        send: { amount: 1, reason: 'r', idempotencyKey: 'k' },
        status: 201,
      },
      { operation: refund, fill: { paymentId: payment }, send: {}, status: 201 },
      { operation: refund, fill: { paymentId: payment }, send: { amount: 1 }, status: 422 },
      { operation: refund, fill: { paymentId: pending }, send: { amount: 1 }, status: 409 },
      { operation: refund, fill: { paymentId: 'nope' }, send: { amount: 1 }, status: 404 },
      { operation: refund, fill: { paymentId: payment }, send: { amount: 'x' }, status: 400 },
      { operation: studio, fill: { id: admin }, send: { name: 'Ada L.' }, status: 200 },
      { operation: studio, fill: { id: admin }, send: { passwordHash: 'plain' }, status: 200 },
      { operation: studio, fill: { id: admin }, send: {}, status: 200 },
      { operation: studio, fill: { id: admin }, send: { name: 5 }, status: 400 },
      { operation: studio, fill: { id: 'nope' }, send: { name: 'x' }, status: 404 },
      {
        operation: coupons,
        fill: { id: coupon },
        send: { is_active: false, metadata: { a: 1 } },
        status: 200,
      },
      { operation: coupons, fill: { id: coupon }, send: {}, status: 200 },
      { operation: coupons, fill: { id: coupon }, send: { is_active: 'no' }, status: 400 },
      { operation: coupons, fill: { id: 'nope' }, send: {}, status: 404 },
      { operation: webhooks, fill: {}, send: { url, events: ['refund.succeeded'] }, status: 201 },
      { operation: webhooks, fill: {}, send: { url, events: ['refund.suceeded'] }, status: 201 },
      { operation: webhooks, fill: {}, send: { url: 'ftp://x', events: ['*'] }, status: 400 },
      { operation: webhooks, fill: {}, send: {}, status: 400 },
    ];
  }

  async function check(answering: Service, asked: readonly Case[]): Promise<readonly string[]> {
    const found: string[] = [];
    for (const { operation, fill, send, status } of asked) {
      const answer = await answering.call(operation, fill, send);
      const what = `${operation} ${JSON.stringify(send)}`;
      if (answer.status !== status) found.push(`${what}: ${answer.status} instead of ${status}`);
      found.push(...breaches(operation, answer).map((breach) => `${what}: ${breach}`));
    }
    return found;
  }

  it('keep their contract in every response', async () => {
    const asked = await cases();
    expect([...new Set(asked.map(({ operation }) => operation))].sort()).toEqual(
      [...operations()].sort(),
    );
    expect(await check(service, asked)).toEqual([]);
  });

  it('differ from a stub that breaks the contract in each operation', async () => {
    const problem = { contentType: 'application/json', body: { error: 'x' } };
    const stub: Service = {
      call(operation) {
        const broken: Readonly<Record<string, Answer>> = {
          'GET /v1/addon-entitlements': {
            status: 200,
            contentType: 'application/json',
            body: { data: [] },
          },
          'POST /v1/refunds/payment/{paymentId}': {
            status: 201,
            contentType: 'application/json',
            body: { id: 'ref_1', amount: '10' },
          },
          'PATCH /v1/studio/{id}': {
            status: 200,
            contentType: 'application/json',
            body: {
              id: 'admin_1',
              email: 'a@example.com',
              name: 'A',
              role: 'admin',
              is_active: true,
              password_scheme: 'bcrypt',
              passwordHash: 'leaked',
              created_at: '2026-03-01T00:00:00.000Z',
              updated_at: '2026-03-01T00:00:00.000Z',
            },
          },
          'PATCH /v1/coupons/{id}': { status: 404, ...problem },
          'POST /v1/webhooks/endpoints': {
            status: 200,
            contentType: 'application/json',
            body: { id: 'whe_1', success: true },
          },
        };
        return Promise.resolve(broken[operation] ?? { status: 500, ...problem });
      },
    };
    for (const operation of operations()) {
      expect(breaches(operation, await stub.call(operation, {}, {}))).not.toEqual([]);
    }
  });
});
