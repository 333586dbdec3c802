import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import perfHooks from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import supertest from 'supertest';
import { MonitoringServer } from '../../src/platform/observability';
import { DatabaseProxy } from '../support/database-proxy';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const METRIC_NAMES =
  /\b(?:service_ready|(?:audit|http|database|damaged|due|ledger|clock|provider|reconciliation|invoices?|process|nodejs)_[a-z0-9_]+_[a-z0-9_]+)\b/g;

const WORK_THAT_WAITS = [
  'due-subscriptions',
  'due-drafts',
  'dispatch-events',
  'webhook-deliveries',
  'due-payments',
  'due-refunds',
  'due-collections',
];

describe('the monitoring port of a worker', () => {
  let worker: TestApp;
  let url: string;
  let made: TestDatabase;
  let proxy: DatabaseProxy;

  beforeAll(async () => {
    made = await createTestDatabase();
    proxy = await DatabaseProxy.before(made.url);
    worker = await startTestApp({
      databaseUrl: proxy.url,
      environment: { ROLE: 'worker', AUTH: 'required', MONITORING_PORT: '0' },
    });
    const port = await worker.app.get(MonitoringServer).listen();
    url = `http://127.0.0.1:${port}`;
  });

  afterAll(async () => {
    await worker.close();
    await proxy.close();
    await made.drop();
  });

  const get = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${url}${path}`, init);
    return { status: response.status, text: await response.text() };
  };

  it('answers the probes without a credential', async () => {
    expect(await get('/health/live')).toEqual({ status: 200, text: 'ok\n' });
    expect(await get('/health/ready')).toEqual({ status: 200, text: 'ok\n' });
  });

  it('measures the process once, however many applications it starts', async () => {
    const measurements = jest.spyOn(perfHooks, 'monitorEventLoopDelay');
    const others = [await startTestApp(), await startTestApp()];
    for (const other of others) {
      const { text } = await other.uncheckedHttp.get('/metrics').expect(200);
      expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
      expect(text).toMatch(/^database_connections/m);
      await other.close();
    }
    expect(measurements.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it('answers the metrics, with the connections of the pool', async () => {
    const { status, text } = await get('/metrics');

    expect(status).toBe(200);
    expect(text).toMatch(/^database_connections\{state="busy"\} \d+$/m);
    expect(text).toMatch(/^database_connections\{state="idle"\} \d+$/m);
    expect(text).toMatch(/^database_connections\{state="waiting"\} 0$/m);
  });

  it('measures the due work by kind', async () => {
    const { text } = await get('/metrics');

    const kinds = [...text.matchAll(/^due_work_oldest_seconds\{work="(.+)"\} 0$/gm)].map(
      ([, work]) => work,
    );
    expect(kinds).toEqual(expect.arrayContaining(WORK_THAT_WAITS));
    for (const work of WORK_THAT_WAITS)
      expect(text).toContain(`due_work_waiting{work="${work}"} 0`);
  });

  it('counts open discrepancies and damaged objects from zero, so that the first one is an increase', async () => {
    const { text } = await get('/metrics');

    for (const object of ['payment', 'refund'])
      expect(text).toContain(`provider_discrepancies_open{object="${object}"} 0`);
    for (const object of ['event', 'audit_change', 'audit_seal', 'usage_file'])
      expect(text).toContain(`damaged_reads_total{object="${object}"} 0`);
  });

  it.each(['alerts.yaml', 'dashboard.json'])('has every metric that %s names', async (file) => {
    const { text } = await get('/metrics');
    const named = readFileSync(`deploy/monitoring/${file}`, 'utf8').matchAll(METRIC_NAMES);

    const missing = [
      ...new Set([...named].map(([name]) => name.replace(/_(bucket|count)$/, ''))),
    ].filter((name) => !text.includes(`# TYPE ${name} `));

    expect(missing).toEqual([]);
  });

  it.each([
    [{ Host: 'evil.example' }, 403],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
    [{ Origin: 'https://evil.example' }, 403],
    [{ Host: 'localhost:9464' }, 200],
  ])('on loopback answers no web page of another site: %j', async (headers, status) => {
    await supertest(url).get('/metrics').set(headers).expect(status);
    await supertest(url).get('/health/live').set(headers).expect(status);
  });

  it('on loopback answers a probe that sends no Host', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.end('GET /health/live HTTP/1.0\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('answers no request with two Hosts', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.end('GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 .*\r\n\r\n.*several Host headers/s);
  });

  it('may be called by any host name beyond loopback', async () => {
    const other = await startTestApp({
      databaseUrl: proxy.url,
      environment: { ROLE: 'worker', HOST: '0.0.0.0', MONITORING_PORT: '0' },
    });
    const port = await other.app.get(MonitoringServer).listen();
    const request = supertest(`http://127.0.0.1:${port}`)
      .get('/metrics')
      .set('Host', 'worker-0.svc');
    await request.expect(200);
    await other.close();
  });

  it('answers nothing else', async () => {
    expect((await get('/v1/customers')).status).toBe(404);
    expect((await get('/metrics', { method: 'POST', body: 'x' })).status).toBe(405);
  });

  it.each(['hold', 'lose'] as const)(
    'answers the other metrics while statements %s',
    async (kind) => {
      proxy.inject(() => ({ kind }));
      const metrics = await get('/metrics');
      const ready = await get('/health/ready');
      proxy.inject(() => null);
      proxy.release();

      expect(ready.status).toBe(503);
      expect(metrics.status).toBe(200);
      expect(metrics.text).toContain('process_resident_memory_bytes');
      expect(metrics.text).not.toContain('due_work_waiting{');
      expect(metrics.text).toMatch(/^service_ready 0$/m);
      await until('it is ready again', async () => (await get('/health/ready')).status === 200);
      const later = await get('/metrics');
      expect(later.text).toContain('due_work_waiting{');
      expect(later.text).toMatch(/^service_ready 1$/m);
    },
  );
});
