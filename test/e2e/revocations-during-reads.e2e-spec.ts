import { Client } from 'pg';
import { DatabaseProxy } from '../support/database-proxy';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { disableLockTimeout, untilSessionsWait } from '../support/lock-waits';
import { signedIn } from '../support/signed-in';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

/** Time after which a revocation must have taken effect in every process. */
const EFFECT_MS = 1_000;

describe('a credential that is being read while it is revoked', () => {
  let engine: TestApp;
  let proxy: DatabaseProxy;
  let behindProxy: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: WITH_KEYS });
    proxy = await DatabaseProxy.before(engine.databaseUrl);
    behindProxy = await startTestApp({ databaseUrl: proxy.url, environment: WITH_KEYS });
  });

  afterAll(async () => {
    proxy.release();
    await behindProxy.close();
    await proxy.close();
    await engine.close();
  });

  const ask = (secret: string) =>
    behindProxy.http
      .get('/v1/customers')
      .set(bearing(secret))
      .then(({ status }) => status);

  /** Sends a request, and holds the answer of the database about its credential. */
  async function askAndHold(secret: string): Promise<{ readonly held: Promise<number> }> {
    let isFirst = true;
    proxy.inject((statement) => {
      if (!isFirst || !/FROM api_key\b/.test(statement)) return null;
      isFirst = false;
      return { kind: 'hold' };
    });
    const held = ask(secret);
    await until('the answer about the key is held', () => proxy.heldBytes > 0);
    return { held };
  }

  const revoke = ({ http }: TestApp, id: string) =>
    http.delete(`/v1/api-keys/${id}`).set(bearing(BOOTSTRAP_KEY)).expect(204);

  it('is refused at once by the process that revoked it', async () => {
    const { id, secret } = await createKey(engine, 'customers:read');
    await behindProxy.http.get('/v1/customers').set(bearing(BOOTSTRAP_KEY)).expect(200);
    const { held } = await askAndHold(secret);
    await revoke(behindProxy, id);
    const next = ask(secret);
    await behindProxy.http.get('/health/live').expect(200);
    proxy.release();
    await held;
    expect([await next, await ask(secret)]).toEqual([401, 401]);
  });

  it('is refused by another process a second later', async () => {
    const { id, secret } = await createKey(engine, 'customers:read');
    const { held } = await askAndHold(secret);
    await revoke(engine, id);
    const revokedAt = performance.now();
    await until('it took effect', () => performance.now() > revokedAt + EFFECT_MS);
    const next = ask(secret);
    await behindProxy.http.get('/health/live').expect(200);
    proxy.release();
    await held;
    expect(await next).toBe(401);
  });

  it('is refused if the read had to wait for its issuer', async () => {
    const created = await engine.http
      .post('/v1/customers')
      .set(bearing(BOOTSTRAP_KEY))
      .send({ name: 'Ada' });
    const tokens = `/v1/customers/${(created.body as { id: string }).id}/tokens`;
    const page = await signedIn(engine, 'support');
    const issued = await engine.http.post(tokens).set(page).send({}).expect(201);
    const { id, token } = issued.body as { id: string; token: string };
    await disableLockTimeout(engine);
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE studio_admin IN ACCESS EXCLUSIVE MODE');
    const asked = engine.http
      .get(tokens.replace('tokens', 'entitlements'))
      .set(bearing(token))
      .then(({ status }) => status);
    await untilSessionsWait(engine.database);
    await engine.http.delete(`${tokens}/${id}`).set(bearing(BOOTSTRAP_KEY)).expect(204);
    await holder.end();
    expect(await asked).toBe(401);
  });
});
