import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import Stripe from 'stripe';
import { type Fault } from './faults';
import { generateSchemas } from './generate-schemas';
import committedSchemas from './request-schemas.json';
import { type Operation } from './operations';
import { customerWith, prepared, refused } from './sdk-requests';
import { startStripeDouble, type StripeDouble } from './stripe-double';

const NOW = new Date('2026-03-01T09:30:00Z');

let double: StripeDouble;
let stripe: Stripe;

beforeEach(async () => {
  double = await startStripeDouble({ now: () => NOW });
  stripe = double.client({ timeout: 2_000 });
});

afterEach(async () => {
  await double.close();
  expect(double.server.defects).toEqual([]);
});

describe('idempotency keys', () => {
  it('answers the same request with the stored answer, also a decline', async () => {
    const intent = await prepared(stripe, 'pm_card_chargeCustomerFail');
    const options = { idempotencyKey: 'pay_1:confirm:1' };
    const confirm = (): Promise<Stripe.PaymentIntent> =>
      stripe.paymentIntents.confirm(intent.id, { off_session: true }, options);
    const first = await refused(confirm());
    const second = await refused(confirm());
    expect(second.raw).toMatchObject({ charge: (first.raw as Stripe.StripeRawError).charge });
    expect(second.headers).toMatchObject({ 'idempotent-replayed': 'true' });
    expect(double.account.charges.size).toBe(1);
  });

  it('refuses other parameters with the same key', async () => {
    const options = { idempotencyKey: 'cus_1' };
    const customer = await stripe.customers.create({ name: 'Grace' }, options);
    expect((await stripe.customers.create({ name: 'Grace' }, options)).id).toBe(customer.id);
    expect(await refused(stripe.customers.create({ name: 'Ada' }, options))).toMatchObject({
      statusCode: 400,
      type: 'StripeIdempotencyError',
    });
  });

  it('stores nothing for parameters that it refuses', async () => {
    const options = { idempotencyKey: 'cus_1' };
    await refused(stripe.customers.create({ nme: 'x' } as Stripe.CustomerCreateParams, options));
    expect(await stripe.customers.create({ name: 'x' }, options)).toBeDefined();
  });

  it('forgets a key after 24 hours', async () => {
    const options = { idempotencyKey: 'cus_1' };
    const first = await stripe.customers.create({}, options);
    double.advanceMs(24 * 3_600_000 - 1);
    expect((await stripe.customers.create({}, options)).id).toBe(first.id);
    double.advanceMs(1);
    expect((await stripe.customers.create({}, options)).id).not.toBe(first.id);
  });

  it('answers 409 while the first request is executing, which still takes effect when its client has gone', async () => {
    const options = { idempotencyKey: 'cus_1', timeout: 300 };
    double.faults.plan('hang_before', { operation: 'customers.create' });
    const first = stripe.customers.create({}, options);
    const refusal = refused(first);
    while (double.faults.hanging === 0) await new Promise(setImmediate);
    expect(await refused(stripe.customers.create({}, options))).toMatchObject({
      statusCode: 409,
      code: 'idempotency_key_in_use',
    });
    expect((await refusal).type).toBe('StripeConnectionError');
    expect(double.account.customers.size).toBe(0);
    double.faults.release();
    const customer = await stripe.customers.create({}, options);
    expect([...double.account.customers.keys()]).toEqual([customer.id]);
  });
});

describe('faults', () => {
  it.each<{ fault: Fault; type: string; effects: number }>([
    { fault: 'reset_before', type: 'StripeConnectionError', effects: 0 },
    { fault: 'reset_after', type: 'StripeConnectionError', effects: 1 },
    { fault: 'hang_after', type: 'StripeConnectionError', effects: 1 },
    { fault: 'error_500_before', type: 'StripeAPIError', effects: 0 },
    { fault: 'error_500_after', type: 'StripeAPIError', effects: 1 },
    { fault: 'rate_limited', type: 'StripeRateLimitError', effects: 0 },
    { fault: 'lock_timeout', type: 'StripeRateLimitError', effects: 0 },
    { fault: 'conflict', type: 'StripeAPIError', effects: 0 },
  ])('$fault: $type, $effects effects', async ({ fault, type, effects }) => {
    // The SDK repeats a request once whose connection was reset, so two are planned.
    double.faults.plan(fault, { operation: 'customers.create', times: 2 });
    const options = { idempotencyKey: 'cus_1', timeout: 300 };
    expect((await refused(stripe.customers.create({}, options))).type).toBe(type);
    expect(double.account.customers.size).toBe(effects);
  });

  it('replays a stored 500', async () => {
    double.faults.plan('error_500_after', { operation: 'customers.create' });
    const options = { idempotencyKey: 'cus_1' };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await refused(stripe.customers.create({}, options))).toMatchObject({
        statusCode: 500,
      });
    }
    expect(double.account.customers.size).toBe(1);
  });

  it('takes effect once however often a request fails and is repeated with its key', async () => {
    const faults: readonly (Fault | null)[] = [
      'reset_after',
      'error_500_after',
      'rate_limited',
      null,
      'conflict',
      'reset_before',
      null,
    ];
    let count = 0;
    double.faults.decide = () => faults[count++ % faults.length] ?? null;
    // A stored failure stays the answer to its key: only a look at the object tells what happened.
    async function repeated(send: () => Promise<unknown>): Promise<void> {
      for (;;) {
        const error: unknown = await send().then(
          () => null,
          (reason: unknown) => reason,
        );
        if (error === null) return;
        expect(error).toBeInstanceOf(Stripe.errors.StripeError);
        const { statusCode } = error as Stripe.errors.StripeError;
        if (statusCode === 500) return;
        expect(statusCode).not.toBe(400);
      }
    }
    await repeated(() => stripe.customers.create({}, { idempotencyKey: 'cus_1' }));
    const [id] = double.account.customers.keys();
    for (let payment = 0; payment < 4; payment += 1) {
      const create = { idempotencyKey: `pay_${payment}:prepare:1` };
      await repeated(() =>
        stripe.paymentIntents.create(
          { amount: 100 + payment, currency: 'usd', customer: id, payment_method: 'pm_card_visa' },
          create,
        ),
      );
      const intent = [...double.account.paymentIntents.keys()].at(-1) ?? '';
      await repeated(() =>
        stripe.paymentIntents.confirm(
          intent,
          { off_session: true },
          { idempotencyKey: `pay_${payment}:confirm:1` },
        ),
      );
      await repeated(() =>
        stripe.refunds.create(
          { payment_intent: intent, amount: 40 },
          { idempotencyKey: `ref_${payment}:1` },
        ),
      );
    }
    const states = [...double.account.paymentIntents.values()].map(({ status }) => status);
    expect(states).toEqual(Array.from({ length: 4 }, () => 'succeeded'));
    expect(double.account.charges.size).toBe(4);
    expect([...double.account.refunds.values()].map(({ amount }) => amount)).toEqual(
      states.map(() => 40),
    );
  });

  it('refuses connections while it is closed, and forgets requests that hang then', async () => {
    double.faults.plan('hang_before');
    const hanging = refused(stripe.customers.create({}, { idempotencyKey: 'cus_1' }));
    while (double.faults.hanging === 0) await new Promise(setImmediate);
    await double.server.close();
    expect((await hanging).type).toBe('StripeConnectionError');
    expect((await refused(stripe.customers.list())).type).toBe('StripeConnectionError');
    await double.server.listen(double.port);
    expect(await stripe.customers.create({}, { idempotencyKey: 'cus_1' })).toBeDefined();
    expect(double.account.customers.size).toBe(1);
  });

  it('ignores a client that goes away while it sends', async () => {
    const socket = connect(double.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.end('POST /v1/customers HTTP/1.1\r\nHost: stripe\r\nContent-Length: 100\r\n\r\nname=');
    socket.destroySoon();
    await once(socket, 'close');
    await stripe.customers.create({});
    expect(double.account.customers.size).toBe(1);
  });

  it('skips as many requests as planned, of this operation only', async () => {
    double.faults.plan('rate_limited', { operation: 'customers.create', skip: 1 });
    await stripe.customers.create({});
    await stripe.customers.list();
    expect((await refused(stripe.customers.create({}))).statusCode).toBe(429);
    await stripe.customers.create({});
    expect(double.account.customers.size).toBe(2);
  });
});

describe('requests that Stripe does not accept', () => {
  const send = (path: string, params: object): Promise<unknown> =>
    stripe.rawRequest('POST', path, params);

  it.each([
    { params: { currency: 'usd' }, code: 'parameter_missing', param: 'amount' },
    {
      params: { amount: 'ten', currency: 'usd' },
      code: 'parameter_invalid_integer',
      param: 'amount',
    },
    {
      params: { amount: 10.5, currency: 'usd' },
      code: 'parameter_invalid_integer',
      param: 'amount',
    },
    {
      params: { amount: 100, currency: 'usd', custmer: 'x' },
      code: 'parameter_unknown',
      param: 'custmer',
    },
    {
      params: { amount: 100, currency: 'usd', automatic_payment_methods: { on: true } },
      code: 'parameter_missing',
      param: 'automatic_payment_methods[enabled]',
    },
    {
      params: { amount: 100, currency: 'usd', capture_method: 'later' },
      code: undefined,
      param: 'capture_method',
    },
    {
      params: { amount: 100, currency: 'usd', confirm: 'perhaps' },
      code: undefined,
      param: 'confirm',
    },
    {
      params: { amount: 100, currency: 'usd', shipping: { name: 'x' } },
      code: undefined,
      param: 'shipping',
    },
    {
      params: { amount: 100, currency: 'usd', customer: 'cus_none' },
      code: 'resource_missing',
      param: 'customer',
    },
  ])('$param: $code', async ({ params, code, param }) => {
    const error = await refused(send('/v1/payment_intents', params));
    expect(error.statusCode).toBe(400);
    expect({ code: error.code, param: error.param }).toEqual({ code, param });
    expect(double.account.paymentIntents.size).toBe(0);
  });

  it('refuses an unknown key, another version of the API, JSON, and an unknown URL', async () => {
    const other = double.client();
    expect(await refused(other.customers.list({}, { apiKey: 'sk_test_other' }))).toMatchObject({
      statusCode: 401,
    });
    expect(await refused(stripe.customers.list({}, { apiVersion: '2020-08-27' }))).toMatchObject({
      statusCode: 400,
    });
    expect(await refused(send('/v1/products', { name: 'x' }))).toMatchObject({ statusCode: 404 });
    const json = await fetch(`${double.url}/v1/customers`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${double.secretKey}:`).toString('base64')}`,
        'stripe-version': '2026-10-28.endive',
        'content-type': 'application/json',
      },
      body: '{}',
    });
    expect(json.status).toBe(400);
    expect(json.headers.get('request-id')).toMatch(/^req_/);
  });

  it('lists what it refused', async () => {
    await refused(send('/v1/payment_intents', { currency: 'usd' }));
    await refused(send('/v1/products', { name: 'x' }));
    expect(double.server.refused).toEqual([
      'paymentIntents.create: Missing required param: amount.',
      expect.stringContaining('POST /v1/products: Unrecognized request URL'),
    ]);
  });

  it('answers in the types of the SDK', () => {
    // @ts-expect-error -- the compiler demands every field of a customer
    const answer: Operation<'customers.retrieve'>['run'] = () => ({ id: 'cus_1' });
    expect(answer).toBeDefined();
  });

  it('checks against the types of the pinned SDK', () => {
    const generated = generateSchemas();
    if (process.env['UPDATE_STRIPE_SCHEMAS']) {
      writeFileSync(join(__dirname, 'request-schemas.json'), JSON.stringify(generated, null, 2));
    }
    expect(committedSchemas).toEqual(generated);
  });
});

describe('events and webhooks', () => {
  let receiver: Server;
  let received: Stripe.Event[];
  let status: number;
  let secret: string;

  beforeEach(async () => {
    received = [];
    status = 200;
    secret = 'whsec_test';
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        received.push(
          Stripe.webhooks.constructEvent(
            Buffer.concat(chunks),
            String(request.headers['stripe-signature']),
            secret,
            300,
            undefined,
            double.account.nowMs,
          ),
        );
        response.writeHead(status).end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    double.webhooks.register(`http://127.0.0.1:${port}/hooks`, 'whsec_old', 'whsec_test');
  });

  afterEach(async () => {
    const closed = once(receiver, 'close');
    receiver.close();
    receiver.closeAllConnections();
    await closed;
  });

  it('signs each event with the time of the account, and lists the same events', async () => {
    await stripe.customers.create({}, { idempotencyKey: 'cus_1' });
    await double.webhooks.idle();
    expect(received).toMatchObject([
      {
        type: 'customer.created',
        api_version: '2026-10-28.endive',
        livemode: false,
        created: 1772357400,
        request: { idempotency_key: 'cus_1' },
        data: { object: { object: 'customer' } },
      },
    ]);
    secret = 'whsec_old';
    await stripe.customers.create({});
    await double.webhooks.idle();
    expect(received).toHaveLength(2);
    const listed = await stripe.events.list({ types: ['customer.created', 'customer.deleted'] });
    expect(listed.data.map(({ id }) => id).reverse()).toEqual(received.map(({ id }) => id));
    expect(await stripe.events.retrieve(String(received[0]?.id))).toMatchObject({
      type: 'customer.created',
    });
    double.advanceMs(30 * 86_400_000);
    expect((await stripe.events.list()).data).toEqual([]);
  });

  it('loses, doubles and holds notifications as the test decides', async () => {
    const fates = ['lose', 'double', 'hold', 'hold'] as const;
    let count = 0;
    double.webhooks.fate = () => fates[count++] ?? 'deliver';
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) ids.push((await stripe.customers.create({})).id);
    await double.webhooks.idle();
    const objects = (): unknown[] => received.map(({ data }) => (data.object as { id: string }).id);
    expect(objects()).toEqual([ids[1], ids[1]]);
    double.webhooks.releaseHeld();
    await double.webhooks.idle();
    expect(objects().slice(2).sort()).toEqual(ids.slice(2).sort());
  });

  it('repeats a notification that was refused once its delay is over', async () => {
    status = 500;
    await stripe.customers.create({});
    await double.webhooks.idle();
    expect(received).toHaveLength(1);
    status = 200;
    double.advanceMs(5 * 60_000);
    await double.webhooks.idle();
    expect(received).toHaveLength(2);
    expect(double.webhooks.delivered).toBe(1);
  });

  it('tells of a renewed card and a revoked mandate', async () => {
    const { method } = await customerWith(stripe, 'pm_card_visa');
    double.updateCard(method, { exp_month: 12, exp_year: 2031 });
    expect([...double.account.events.values()].at(-1)?.type).toBe(
      'payment_method.automatically_updated',
    );
    expect((await stripe.paymentMethods.retrieve(method)).card?.exp_year).toBe(2031);
  });
});
