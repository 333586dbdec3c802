import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { captureLog, type CapturedLog } from '../support/leaks';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

describe('the request log', () => {
  let log: CapturedLog;
  let engine: TestApp;

  beforeAll(async () => {
    log = captureLog();
    engine = await startTestApp({ environment: { ...WITH_KEYS, LOG_LEVEL: 'info' } });
  });

  afterAll(async () => {
    await engine.close();
    log.stop();
  });

  /** Sends the request, then one that is logged after it. Returns the status that is logged for the first one, or null. */
  async function loggedStatus(method: 'get' | 'post', path: string, secret: string) {
    const answer = await engine.uncheckedHttp[method](path).set(bearing(secret));
    const last = await engine.uncheckedHttp.get('/v1/customers').set(bearing(BOOTSTRAP_KEY));
    const lineOf = ({ headers }: typeof answer) =>
      log
        .text()
        .split('\n')
        .find((line) => line.includes(String(headers['x-request-id'])));
    await until('the last request is logged', () => lineOf(last) !== undefined);
    const line = lineOf(answer);
    return line === undefined ? null : (JSON.parse(line) as { status: number }).status;
  }

  it.each([
    ['get', '/metrics', 401],
    ['get', '/metrics?x=1', 401],
    ['post', '/metrics', 401],
    ['post', '/health/live', 401],
    ['get', '/healthx', 401],
    ['get', '/metricsx', 401],
    ['get', '/docsx', 401],
  ] as const)('has a line of a refused credential at %s %s', async (method, path, status) => {
    expect(await loggedStatus(method, path, 'wrong')).toBe(status);
  });

  it.each([
    ['get', '/healthx', 404],
    ['get', '/metricsx', 404],
    ['get', '/docsx', 404],
    ['post', '/health/live', 405],
    ['post', '/metrics', 405],
  ] as const)('has a line of a valid credential at %s %s', async (method, path, status) => {
    expect(await loggedStatus(method, path, BOOTSTRAP_KEY)).toBe(status);
  });

  it('has a line of a credential without the scope of the metrics', async () => {
    const { secret } = await createKey(engine, 'customers:read');
    expect(await loggedStatus('get', '/metrics', secret)).toBe(403);
  });

  it.each(['/health/live', '/health/ready', '/metrics', '/docs', '/docs/swagger-ui.css'])(
    'has no line of an answer at %s, which machines and pages read often',
    async (path) => {
      expect(await loggedStatus('get', path, BOOTSTRAP_KEY)).toBeNull();
    },
  );
});
