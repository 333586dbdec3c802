import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { type Receiver, startReceiver } from '../support/receiver';
import { RunningService } from '../support/running-service';
import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { TraceReceiver } from '../support/trace-receiver';
import { until } from '../support/until';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';

const run = promisify(execFile);

/** Environment of a service that exports its traces, quickly. */
const tracingTo = (url: string, rest: Readonly<Record<string, string>> = {}) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_BSP_SCHEDULE_DELAY: '50',
  LOG_LEVEL: 'info',
  ...rest,
});

describe('traces', () => {
  let made: TestDatabase;
  let traces: TraceReceiver;
  let stripe: StripeDouble;
  let hooks: Receiver;
  let service: RunningService;

  beforeAll(async () => {
    made = await createTestDatabase();
    traces = await TraceReceiver.start();
    stripe = await startStripeDouble({});
    hooks = await startReceiver();
    service = await RunningService.start(
      made.url,
      tracingTo(traces.url, {
        OTEL_SERVICE_NAME: 'billing-of-tests',
        PAYMENT_PROVIDERS: 'sandbox,stripe',
        STRIPE_SECRET_KEY: stripe.secretKey,
        STRIPE_API_URL: stripe.url,
      }),
    );
  });

  afterAll(async () => {
    await service.kill();
    await hooks.close();
    await stripe.close();
    await traces.close();
    await made.drop();
  });

  const create = async (path: string, body: object, headers = {}): Promise<{ id: string }> => {
    const response = await service.post(path, body, headers);
    expect(response.status).toBe(201);
    return (await response.json()) as { id: string };
  };

  /** Returns the spans of the request that this header names, once the request itself has arrived. */
  const spansOf = async (traceId: string) => {
    const ofTrace = () => traces.spans.filter((span) => span.traceId === traceId);
    await until('the span of the request', () => ofTrace().some(({ kind }) => kind === 2));
    return ofTrace();
  };

  it('continue that of the caller, with a span for the request and one for its transaction', async () => {
    const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`;
    const name = 'Ada Lovelace';
    const { id } = await create('/v1/customers', { name }, { traceparent });

    const spans = await spansOf(TRACE_ID);
    const [request] = spans.filter(({ kind }) => kind === 2);
    expect(request).toMatchObject({
      service: 'billing-of-tests',
      parentId: PARENT_ID,
      name: 'POST /v1/customers',
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/customers',
        'http.response.status_code': 201,
      },
    });
    expect(spans.filter((span) => span !== request)).toEqual([
      expect.objectContaining({
        parentId: request?.spanId,
        name: 'database transaction',
        kind: 1,
        attributes: { 'db.system.name': 'postgresql', 'db.statements': expect.any(Number) },
      }),
    ]);
    const texts = JSON.stringify(spans);
    for (const value of [name, id, 'INSERT']) expect(texts).not.toContain(value);
  });

  it('count the statements of a transaction, BEGIN and COMMIT included', async () => {
    const traceId = TRACE_ID.replace('0a', '1a');
    await service.post(
      '/v1/customers',
      { name: 'Grace' },
      { traceparent: `00-${traceId}-${PARENT_ID}-01` },
    );

    const [transaction] = (await spansOf(traceId)).filter(({ kind }) => kind === 1);
    expect(transaction?.attributes['db.statements']).toBeGreaterThanOrEqual(4);
    expect(transaction?.attributes['db.statements']).toBeLessThan(12);
  });

  it('name the refusal of a request, which is no failure', async () => {
    const traceId = TRACE_ID.replace('0a', '2a');
    const headers = { traceparent: `00-${traceId}-${PARENT_ID}-01` };
    const response = await service.post('/v1/plans/pln_0/archive', {}, headers);

    expect(response.status).toBe(404);
    const [request] = await spansOf(traceId);
    expect(request).toMatchObject({ isError: false });
    expect(request?.attributes['http.response.status_code']).toBe(404);
  });

  it('have no failure for a repeated request, which rolls its own transaction back', async () => {
    const traceId = TRACE_ID.replace('0a', '6a');
    const [key, name] = ['repeated', 'Ada'];
    const first = await create('/v1/customers', { name }, { 'idempotency-key': key });
    const again = await create(
      '/v1/customers',
      { name },
      { 'idempotency-key': key, traceparent: `00-${traceId}-${PARENT_ID}-01` },
    );

    expect(again.id).toBe(first.id);
    const spans = await spansOf(traceId);
    expect(spans.map((span) => span.name)).toContain('database transaction');
    expect(spans.filter(({ isError }) => isError)).toEqual([]);
  });

  it('are not recorded where the caller says so, and begin with the request where the header is invalid', async () => {
    const unsampled = TRACE_ID.replace('0a', '3a');
    await service.post('/v1/customers', {}, { traceparent: `00-${unsampled}-${PARENT_ID}-00` });
    const before = traces.named('GET /v1/customers').length;
    await fetch(`${service.url}/v1/customers`, { headers: { traceparent: 'garbage' } });
    await until('a new trace', () => traces.named('GET /v1/customers').length > before);

    expect(traces.spans.filter(({ traceId }) => traceId === unsampled)).toEqual([]);
    expect(traces.named('GET /v1/customers').at(-1)?.parentId).toBe('');
  });

  it('are named in the log line of the request', async () => {
    const traceId = TRACE_ID.replace('0a', '4a');
    await service.post('/v1/customers', {}, { traceparent: `00-${traceId}-${PARENT_ID}-01` });

    const [request] = await spansOf(traceId);
    const lines = () => service.log().filter((line) => line['trace_id'] === traceId);
    await until('the line', () => lines().length > 0);
    expect(lines()).toEqual([
      expect.objectContaining({ msg: 'request', span_id: request?.spanId }),
    ]);
  });

  it('have no span for probes and metrics', async () => {
    await service.get('/health/ready');
    await service.get('/metrics');
    await service.get('/v1/meters');
    await until('the request', () => traces.named('GET /v1/meters').length > 0);

    expect(traces.spans.filter(({ name }) => /health|metrics/.test(name))).toEqual([]);
  });

  it('have a trace for each attempt of a webhook, and send the receiver no header', async () => {
    await create('/v1/webhooks/endpoints', {
      url: `${hooks.url}?secret=1`,
      events: ['customer.*'],
    });
    await create('/v1/customers', { name: 'Ada' });
    await until('the attempt', () => traces.named('webhook attempt').length > 0);

    expect(traces.named('webhook attempt')[0]).toMatchObject({
      kind: 3,
      parentId: '',
      isError: false,
      attributes: {
        'server.address': '127.0.0.1',
        'webhook.attempt': 1,
        'webhook.event_id': expect.stringMatching(/^evt_/),
        'http.response.status_code': 204,
      },
    });
    expect(JSON.stringify(traces.named('webhook attempt'))).not.toContain('secret');
    expect(hooks.received[0]?.headers).not.toHaveProperty('traceparent');
  });

  it('have a span for each run of due work that did something, and for no other', async () => {
    const dispatched = traces.named('dispatch-events');
    expect(dispatched.length).toBeGreaterThan(0);
    for (const { spanId, parentId } of dispatched) {
      expect(parentId).toBe('');
      expect(traces.spans.filter((span) => span.parentId === spanId)).not.toEqual([]);
    }
    // This work runs each second, and nothing is due.
    expect(traces.named('due-subscriptions')).toEqual([]);
  });

  it('have a span for each request to Stripe', async () => {
    const traceId = TRACE_ID.replace('0a', '5a');
    const { id } = await create('/v1/customers', { name: 'Ada' });
    await service.post(
      `/v1/customers/${id}/payment-methods`,
      { provider: 'stripe', token: 'pm_card_visa' },
      { traceparent: `00-${traceId}-${PARENT_ID}-01` },
    );

    const spans = await spansOf(traceId);
    const requests = spans.filter(({ kind }) => kind === 3);
    expect(requests.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['stripe customers', 'stripe payment_methods/attach']),
    );
    const [root] = spans.filter(({ kind }) => kind === 2);
    expect(requests.every(({ parentId }) => parentId === root?.spanId)).toBe(true);
  });

  it('are exported when the process stops', async () => {
    const other = await RunningService.start(
      made.url,
      tracingTo(traces.url, { OTEL_BSP_SCHEDULE_DELAY: '600000', ROLE: 'api' }),
    );
    await other.get('/v1/coupons');
    expect(traces.named('GET /v1/coupons')).toEqual([]);

    expect(await other.stop()).toBe(0);
    expect(traces.named('GET /v1/coupons')).toHaveLength(1);
  });
});

describe('a receiver of traces that', () => {
  let made: TestDatabase;

  beforeAll(async () => {
    made = await createTestDatabase();
  });
  afterAll(() => made.drop());

  it.each([
    ['does not answer', () => undefined],
    ['breaks the connection', (response: { destroy(): unknown }) => void response.destroy()],
  ])('%s delays and fails no request, and no stop', async (_what, behaviour) => {
    const traces = await TraceReceiver.start();
    traces.behave(behaviour);
    const service = await RunningService.start(
      made.url,
      tracingTo(traces.url, {
        ROLE: 'api',
        OTEL_BSP_MAX_QUEUE_SIZE: '64',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '64',
        OTEL_BSP_EXPORT_TIMEOUT: '500',
        OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      }),
    );
    try {
      const answers = await Promise.all(
        Array.from({ length: 300 }, () => service.get('/v1/customers')),
      );
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      const failures = () => service.log().filter(({ msg }) => msg === 'spans were not exported');
      await until('the log says so', () => failures().length > 0);
      // The trace of a request has nothing to do with it.
      expect(failures()[0]).not.toHaveProperty('trace_id');
      const stopsAt = performance.now();
      expect(await service.stop()).toBe(0);
      expect(performance.now() - stopsAt).toBeLessThan(10_000);
    } finally {
      await service.kill();
      await traces.close();
    }
  });

  it('never ends its answer is disconnected, and gets later spans', async () => {
    const traces = await TraceReceiver.start();
    let begun = 0;
    let closed = 0;
    traces.behave((response) => {
      begun += 1;
      response.writeHead(200);
      const sending = setInterval(() => response.write('x'), 50);
      response.on('close', () => {
        clearInterval(sending);
        closed += 1;
      });
    });
    const service = await RunningService.start(
      made.url,
      tracingTo(traces.url, {
        ROLE: 'api',
        OTEL_BSP_EXPORT_TIMEOUT: '200',
        OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      }),
    );
    try {
      await service.get('/v1/customers');
      await until('the end of the connections', () => begun > 0 && closed === begun);
      traces.behave((response) => response.end());
      await service.get('/v1/coupons');
      await until('a later span', () => traces.named('GET /v1/coupons').length > 0);
    } finally {
      await service.kill();
      await traces.close();
    }
  });
});

describe('a service without a receiver of traces', () => {
  it('does not load the packages', async () => {
    const runTs = join(__dirname, '../support/run-ts.cjs');
    const script = `
      require('./src/main.ts');
      const isOfTracing = (path) => /@opentelemetry.(?!api)/.test(path);
      console.log(JSON.stringify(Object.keys(require.cache).filter(isOfTracing)));
      process.exit();`;
    const { stdout } = await run(process.execPath, ['--require', runTs, '-e', script], {
      env: { ...process.env, PORT: 'none' },
    });
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toEqual([]);
  });
});
