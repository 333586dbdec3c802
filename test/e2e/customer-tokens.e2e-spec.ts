import { CustomersService } from '../../src/modules/customers';
import { createAdmin, pageOf, PASSWORD } from '../support/admins';
import { bearing, BOOTSTRAP_KEY, createKey, WITH_KEYS } from '../support/keys';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { signedIn } from '../support/signed-in';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

interface Issued {
  readonly id: string;
  readonly token: string;
  readonly expires_at: string;
}

describe('customer tokens', () => {
  let engine: TestApp;
  let customer: string;

  beforeAll(async () => {
    engine = await startTestApp({ environment: WITH_KEYS });
    const created = await engine.http
      .post('/v1/customers')
      .set(bearing(BOOTSTRAP_KEY))
      .send({ name: 'Ada' });
    customer = (created.body as { readonly id: string }).id;
  });

  afterAll(() => engine.close());

  const issue = (body: object, secret = BOOTSTRAP_KEY, id = customer) =>
    engine.http.post(`/v1/customers/${id}/tokens`).set(bearing(secret)).send(body);

  const read = (token: string, path = `/v1/customers/${customer}/entitlements`) =>
    engine.http.get(path).set(bearing(token));

  it('read what belongs to their customer until they expire', async () => {
    const { status, body } = await issue({ expires_in_seconds: 60 });
    const { id, token, expires_at } = body as Issued;
    expect(status).toBe(201);
    expect(token).toMatch(/^ct_live_[0-9A-Za-z]{49}$/);
    expect(body).toMatchObject({
      customer_id: customer,
      scopes: ['entitlements:read', 'invoices:read'],
    });
    expect(Date.parse(expires_at)).toBe(engine.clock.now().getTime() + 60_000);
    expect((await read(token)).status).toBe(200);
    const events = await eventsOf(engine, id);
    expect(events.map(({ type }) => type)).toEqual(['customer_token.created']);
    expect(JSON.stringify(events)).not.toContain(token.slice(8));
    engine.clock.advanceMs(60_000);
    const late = await read(token);
    expect([late.status, late.body]).toEqual([401, expect.objectContaining({ reason: 'expired' })]);
  });

  it('have only the scopes they were issued with', async () => {
    const { body } = await issue({ scopes: ['entitlements:read'] });
    const invoices = await read((body as Issued).token, `/v1/invoices?customer_id=${customer}`);
    expect([invoices.status, invoices.body]).toEqual([
      403,
      expect.objectContaining({ code: 'forbidden', required_scope: 'invoices:read' }),
    ]);
  });

  it('read only invoices of their customer as CSV, whatever the query looks like', async () => {
    const other = await engine.http
      .post('/v1/customers')
      .set(bearing(BOOTSTRAP_KEY))
      .send({ name: 'Bob' });
    const { id: customer_id } = other.body as { readonly id: string };
    const lines = [{ description: 'Secret', amount: 1_000 }];
    const invoice = await engine.http
      .post('/v1/invoices')
      .set(bearing(BOOTSTRAP_KEY))
      .send({ customer_id, currency: 'EUR', lines });
    expect(invoice.status).toBe(201);
    const { body } = await issue({});
    for (const odd of ['limit=5?&', '?&', 'overdue=true?&', '']) {
      const path = `/v1/invoices?${odd}customer_id=${customer}`;
      const answer = await engine.uncheckedHttp
        .get(path)
        .set(bearing((body as Issued).token))
        .set('Accept', 'text/csv');
      expect(answer.text).not.toContain(customer_id);
    }
  });

  it('learn nothing about invoices of other customers from cursors that name them', async () => {
    const bill = async (customer_id: string, amount: number): Promise<string> => {
      const lines = [{ description: 'Work', amount }];
      const { body } = await engine.http
        .post('/v1/invoices')
        .set(bearing(BOOTSTRAP_KEY))
        .send({ customer_id, currency: 'EUR', lines });
      return (body as { readonly id: string }).id;
    };
    const other = await engine.http
      .post('/v1/customers')
      .set(bearing(BOOTSTRAP_KEY))
      .send({ name: 'Bob' });
    const foreign = await bill((other.body as { readonly id: string }).id, 200);
    for (const amount of [100, 300]) await bill(customer, amount);
    const { token } = (await issue({})).body as Issued;
    const list = `/v1/invoices?customer_id=${customer}&sort=total&limit=1`;
    const first = (await read(token, list)).body as { readonly next_cursor: string };
    const [, mark] = Buffer.from(first.next_cursor, 'base64url').toString().split(' ');
    const cursor = Buffer.from(`${foreign} ${mark}`).toString('base64url');
    const answer = await read(token, `${list}&cursor=${cursor}`);
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_cursor' }),
    ]);
  });

  it('cannot have scopes that their issuer lacks', async () => {
    const { secret } = await createKey(engine, 'customers:write', 'entitlements:read');
    const refused = await issue({}, secret);
    expect([refused.status, refused.body]).toEqual([
      403,
      expect.objectContaining({ code: 'scope_not_held', required_scope: 'invoices:read' }),
    ]);
    expect((await issue({ scopes: ['entitlements:read'] }, secret)).status).toBe(201);
  });

  const key = (method: 'delete' | 'patch', id: string) =>
    engine.http[method](`/v1/api-keys/${id}`).set(bearing(BOOTSTRAP_KEY));

  it('end when the API key that issued them is revoked, and not those of others', async () => {
    const issuer = await createKey(engine, 'customers:write', 'entitlements:read');
    const terms = { scopes: ['entitlements:read'] };
    const { token } = (await issue(terms, issuer.secret)).body as Issued;
    const { token: other } = (await issue(terms)).body as Issued;
    expect((await read(token)).status).toBe(200);
    await key('delete', issuer.id).expect(204);
    const late = await read(token);
    expect([late.status, late.body]).toEqual([401, expect.objectContaining({ reason: 'revoked' })]);
    expect((await read(other)).status).toBe(200);
  });

  it('end when the API key that issued them expires', async () => {
    const issuer = await createKey(engine, 'customers:write', 'entitlements:read');
    const { token } = (await issue({ scopes: ['entitlements:read'] }, issuer.secret))
      .body as Issued;
    const expires_at = new Date(engine.clock.now().getTime() + 60_000).toISOString();
    await key('patch', issuer.id).send({ expires_at }).expect(200);
    expect((await read(token)).status).toBe(200);
    engine.clock.advanceMs(60_000);
    const late = await read(token);
    expect([late.status, late.body]).toEqual([401, expect.objectContaining({ reason: 'expired' })]);
  });

  it('lose the scopes that the API key that issued them loses', async () => {
    const issuer = await createKey(engine, 'customers:write', 'entitlements:read');
    const { token } = (await issue({ scopes: ['entitlements:read'] }, issuer.secret))
      .body as Issued;
    expect((await read(token)).status).toBe(200);
    await key('patch', issuer.id)
      .send({ scopes: ['customers:write'] })
      .expect(200);
    const late = await read(token);
    expect([late.status, late.body]).toEqual([403, expect.objectContaining({ code: 'forbidden' })]);
  });

  it('end when the admin that issued them is deactivated', async () => {
    const page = await signedIn(engine, 'support');
    const answer = await engine.http
      .post(`/v1/customers/${customer}/tokens`)
      .set(page)
      .send({})
      .expect(201);
    const { token } = answer.body as Issued;
    expect((await read(token)).status).toBe(200);
    const session = await engine.http.get('/v1/session').set(page).expect(200);
    const { id } = (session.body as { readonly admin: { readonly id: string } }).admin;
    await engine.http.delete(`/v1/studio/${id}`).set(bearing(BOOTSTRAP_KEY)).expect(204);
    // Credentials are read again within a second.
    await until('the token is refused', async () => (await read(token)).status === 401);
    expect((await read(token)).body).toMatchObject({ reason: 'revoked' });
  });

  it('lose their scopes while the admin that issued them must enrol a second factor', async () => {
    const { email } = await createAdmin(engine, 'support');
    const signIn = await engine.uncheckedHttp
      .post('/v1/session')
      .send({ email, password: PASSWORD });
    const answer = await engine.http
      .post(`/v1/customers/${customer}/tokens`)
      .set(pageOf(signIn))
      .send({})
      .expect(201);
    const { token } = answer.body as Issued;
    expect((await read(token)).status).toBe(200);
    const require = (second_factor_required: boolean) =>
      engine.http
        .patch('/v1/studio-settings')
        .set(bearing(BOOTSTRAP_KEY))
        .send({ second_factor_required });
    await require(true).expect(200);
    // Credentials are read again within a second.
    await until('the token is refused', async () => (await read(token)).status === 403);
    await require(false).expect(200);
    await until('the token is accepted', async () => (await read(token)).status === 200);
  });

  it('end when their customer is deleted, and are not issued for it at the same time', async () => {
    const created = await engine.http
      .post('/v1/customers')
      .set(bearing(BOOTSTRAP_KEY))
      .send({ name: 'Bob' });
    const { id } = created.body as { readonly id: string };
    const { token } = (await issue({}, BOOTSTRAP_KEY, id)).body as Issued;
    const list = `/v1/invoices?customer_id=${id}`;
    expect((await read(token, list)).status).toBe(200);
    const customers = engine.app.get(CustomersService, { strict: false });
    const commit = await openTransaction(engine.database, () => customers.delete(id, 'any'));
    const late = issue({}, BOOTSTRAP_KEY, id).then((answer) => answer);
    await untilSessionsWait(engine.database);
    await commit();
    const { status, body } = await late;
    expect([status, body]).toEqual([404, expect.objectContaining({ code: 'customer_not_found' })]);
    // Credentials are read again within a second.
    await until('the token is refused', async () => (await read(token, list)).status === 401);
    expect((await read(token, list)).body).toMatchObject({ reason: 'revoked' });
  });

  it.each([
    [{ scopes: ['customers:write'] }],
    [{ scopes: [] }],
    [{ expires_in_seconds: 59 }],
    [{ expires_in_seconds: 86_401 }],
    [{ customer_id: 'cus_1' }],
  ])('are refused with %j', async (body) => {
    expect((await issue(body)).status).toBe(400);
  });

  it('need a customer', async () => {
    const { status, body } = await issue({}, BOOTSTRAP_KEY, 'cus_01h455vb4pex5vsknk084sn02q');
    expect([status, body]).toEqual([404, expect.objectContaining({ code: 'customer_not_found' })]);
  });

  it('are revoked, once', async () => {
    const { id, token } = (await issue({})).body as Issued;
    expect((await read(token)).status).toBe(200);
    const revoke = () =>
      engine.http.delete(`/v1/customers/${customer}/tokens/${id}`).set(bearing(BOOTSTRAP_KEY));
    expect((await revoke()).status).toBe(204);
    expect((await read(token)).status).toBe(401);
    expect((await revoke()).status).toBe(404);
    const events = await eventsOf(engine, id);
    expect(events.map(({ type }) => type)).toEqual([
      'customer_token.created',
      'customer_token.revoked',
    ]);
  });
});
