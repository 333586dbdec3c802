import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { createAdmin, pageOf, PASSWORD } from '../support/admins';
import { createCustomer } from '../support/billing';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

/** Revocation takes effect within a second. */
const WITHIN_MS = 1_000;
/** More than stays in memory before NDJSON moves to a table. */
const MANY_LINES = 5_000;
const NDJSON = 'application/x-ndjson';

interface Answer {
  readonly status: number | undefined;
  readonly code: unknown;
}

interface Begun {
  readonly sent: ClientRequest;
  readonly answer: Promise<Answer>;
}

async function answerOf(sent: ClientRequest): Promise<Answer> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const body = (await json(answer)) as { readonly code?: unknown };
  return { status: answer.statusCode, code: body.code };
}

describe('a caller who loses access while sending a body', () => {
  let engine: TestApp;
  let customer: string;
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp({ environment: WITH_KEYS });
    const owner = { ...engine, http: engine.http.set(bearing(BOOTSTRAP_KEY)) };
    customer = await createCustomer(owner);
  });

  afterAll(() => engine.close());

  const asOwner = bearing(BOOTSTRAP_KEY);
  const newKey = JSON.stringify({ name: 'Made late', scopes: ['customers:read'] });
  const keysMadeLate = async (): Promise<number> =>
    (await engine.database.query(`SELECT FROM api_key WHERE name = 'Made late'`)).length;
  const eventsStored = async (): Promise<number> =>
    (await engine.database.query('SELECT FROM usage_event')).length;

  const event = (): string =>
    JSON.stringify({
      idempotency_key: `late-${(serial += 1)}`,
      customer_id: customer,
      event_name: 'late',
      timestamp: '2026-03-01T00:00:00Z',
    });
  const linesOf = (count: number): string =>
    Array.from({ length: count }, () => `${event()}\n`).join('');

  /** Sends the head of a POST request and the first part of its body. */
  async function begin(
    path: string,
    headers: Readonly<Record<string, string>>,
    part: string,
  ): Promise<Begun> {
    const url = new URL(path, await engine.app.getUrl());
    const sent = request(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      agent: false,
    });
    const answer = answerOf(sent);
    await new Promise<void>((resolve) => sent.write(part, () => resolve()));
    return { sent, answer };
  }

  /** Takes access away, and waits until this must have taken effect. */
  async function lose(access: () => PromiseLike<unknown>): Promise<void> {
    await access();
    const lostAt = performance.now();
    await until('the loss is in effect', () => performance.now() - lostAt > WITHIN_MS);
  }

  function finish({ sent, answer }: Begun, rest: string): Promise<Answer> {
    sent.end(rest);
    return answer;
  }

  const revoke = (id: string) => () =>
    engine.http.delete(`/v1/api-keys/${id}`).set(asOwner).expect(204);

  const narrow =
    (id: string, ...scopes: readonly string[]) =>
    () =>
      engine.http.patch(`/v1/api-keys/${id}`).set(asOwner).send({ scopes }).expect(200);

  it('changes nothing with a revoked key', async () => {
    const { id, secret } = await createKey(engine, '*');
    const begun = await begin('/v1/api-keys', bearing(secret), newKey.slice(0, 1));
    await lose(revoke(id));
    expect(await finish(begun, newKey.slice(1))).toEqual({ status: 401, code: 'unauthenticated' });
    expect(await keysMadeLate()).toBe(0);
  });

  it('changes nothing without the scope', async () => {
    const { id, secret } = await createKey(engine, 'keys:write', 'customers:read');
    const begun = await begin('/v1/api-keys', bearing(secret), newKey.slice(0, 1));
    await lose(narrow(id, 'customers:read'));
    expect(await finish(begun, newKey.slice(1))).toEqual({ status: 403, code: 'forbidden' });
    expect(await keysMadeLate()).toBe(0);
  });

  it('hands out no scope that the key has lost', async () => {
    const { id, secret } = await createKey(engine, 'keys:write', 'customers:read');
    const begun = await begin('/v1/api-keys', bearing(secret), newKey.slice(0, 1));
    await lose(narrow(id, 'keys:write'));
    expect(await finish(begun, newKey.slice(1))).toEqual({ status: 403, code: 'scope_not_held' });
    expect(await keysMadeLate()).toBe(0);
  });

  it('changes nothing in a session of a deactivated admin', async () => {
    await createAdmin(engine, 'owner', 'remaining@example.com');
    const { id, email } = await createAdmin(engine, 'owner');
    const signedIn = await engine.http.post('/v1/session').send({ email, password: PASSWORD });
    const begun = await begin('/v1/api-keys', pageOf(signedIn), newKey.slice(0, 1));
    await lose(() => engine.http.delete(`/v1/studio/${id}`).set(asOwner).expect(204));
    expect(await finish(begun, newKey.slice(1))).toEqual({ status: 401, code: 'unauthenticated' });
    expect(await keysMadeLate()).toBe(0);
  });

  it('continues if access is not lost', async () => {
    const { secret } = await createKey(engine, 'usage:write');
    const before = await eventsStored();
    const begun = await begin('/v1/usage-events', bearing(secret), event().slice(0, 1));
    await lose(() => Promise.resolve());
    expect(await finish(begun, event().slice(1))).toMatchObject({ status: 200 });
    expect(await eventsStored()).toBe(before + 1);
  });

  it.each([
    ['JSON', 'application/json', () => '{', () => event().slice(1)],
    ['a few lines', NDJSON, () => linesOf(2), () => linesOf(1)],
    ['many lines', NDJSON, () => linesOf(MANY_LINES), () => linesOf(1)],
    ['lines that have all arrived', NDJSON, () => linesOf(2), () => ''],
  ])('reports no usage with a revoked key: %s', async (_, type, part, rest) => {
    const { id, secret } = await createKey(engine, 'usage:write');
    const before = await eventsStored();
    const headers = { ...bearing(secret), 'Content-Type': type };
    const begun = await begin('/v1/usage-events', headers, part());
    await lose(revoke(id));
    expect(await finish(begun, rest())).toEqual({ status: 401, code: 'unauthenticated' });
    expect(await eventsStored()).toBe(before);
  });

  it.each([
    ['a line', () => linesOf(1)],
    ['a part of a line', () => ' '],
  ])('is refused in the middle of NDJSON, at %s', async (_, more) => {
    const { id, secret } = await createKey(engine, 'usage:write', 'usage:read');
    const headers = { ...bearing(secret), 'Content-Type': NDJSON };
    const begun = await begin('/v1/usage-events', headers, linesOf(2));
    await lose(narrow(id, 'usage:read'));
    begun.sent.write(more());
    expect(await begun.answer).toEqual({ status: 403, code: 'forbidden' });
    begun.sent.on('error', () => undefined).destroy();
  });

  it('sends NDJSON to its end if it keeps the scope', async () => {
    const { id, secret } = await createKey(engine, '*');
    const headers = { ...bearing(secret), 'Content-Type': NDJSON };
    const begun = await begin('/v1/usage-events', headers, linesOf(2));
    await lose(narrow(id, 'usage:write'));
    expect(await finish(begun, linesOf(1))).toMatchObject({ status: 200 });
  });
});
