import { Outbox } from '../../src/platform/outbox';
import { bearing, BOOTSTRAP_KEY, type CreatedKey, createKey, WITH_KEYS } from '../support/keys';
import { runCommand } from '../support/command';
import { startTestApp, type TestApp } from '../support/test-app';

interface Made {
  readonly id: string;
  readonly actor?: string;
}

describe('the actor of a change', () => {
  let engine: TestApp;
  let one: CreatedKey;
  let other: CreatedKey;

  beforeAll(async () => {
    const environment = { ...WITH_KEYS, PAYMENT_PROVIDERS: 'sandbox' };
    engine = await startTestApp({ environment });
    one = await createKey(engine, '*');
    other = await createKey(engine, '*');
  });

  afterAll(() => engine.close());

  const post = (key: CreatedKey, path: string, body: object, idempotencyKey?: string) =>
    engine.http
      .post(path)
      .set(bearing(key.secret))
      .set(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey })
      .send(body);

  async function actorsOf(objectId: string): Promise<readonly unknown[]> {
    const rows = await engine.database.query<{ actor: string }>(
      'SELECT actor FROM event WHERE object_id = $1 ORDER BY sequence',
      [objectId],
    );
    return rows.map(({ actor }) => actor);
  }

  async function paidBy(key: CreatedKey): Promise<string> {
    const customer = await post(key, '/v1/customers', { name: 'Ada' });
    const payment = await post(key, '/v1/payments', {
      customer_id: (customer.body as Made).id,
      amount: 1_000,
      currency: 'USD',
    });
    return (payment.body as Made).id;
  }

  it('is the API key whose request made it', async () => {
    const created = await post(one, '/v1/customers', { name: 'Ada' });
    const { id } = created.body as Made;
    await engine.http
      .patch(`/v1/customers/${id}`)
      .set(bearing(other.secret))
      .send({ name: 'Grace' });
    await engine.http.delete(`/v1/customers/${id}`).set(bearing(BOOTSTRAP_KEY)).expect(204);
    const [bootstrap] = await engine.database.query<{ id: string }>(
      `SELECT id FROM api_key WHERE created_by = 'bootstrap'`,
    );
    expect(await actorsOf(id)).toEqual([one.id, other.id, bootstrap?.id]);
    const shown = await engine.http
      .get(`/v1/events?object_id=${id}&limit=1`)
      .set(bearing(one.secret));
    expect(shown.body).toMatchObject({ data: [{ actor: bootstrap?.id }] });
  });

  it('is the command that made it', async () => {
    const { databaseUrl } = engine;
    const { stdout } = await runCommand('keys', ['create', '--name', 'K'], { databaseUrl });
    const [id = ''] = stdout.split(' ', 1);
    expect(await runCommand('keys', ['revoke', id], { databaseUrl })).toMatchObject({ code: 0 });
    expect(await actorsOf(id)).toEqual(['command:keys create', 'command:keys revoke']);
    const { body } = await engine.http.get(`/v1/api-keys/${id}`).set(bearing(BOOTSTRAP_KEY));
    expect(body).toMatchObject({ created_by: 'command:keys create' });
  });

  it('is kept apart in requests that run at once', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? one : other));
    const made = await Promise.all(keys.map((key) => post(key, '/v1/customers', { name: 'Ada' })));
    const actors = await Promise.all(made.map(({ body }) => actorsOf((body as Made).id)));
    expect(actors).toEqual(keys.map(({ id }) => [id]));
  });

  it('is on refunds, and owns their idempotency keys', async () => {
    const payment = await paidBy(one);
    const path = `/v1/refunds/payment/${payment}`;
    const first = await post(one, path, { amount: 100, idempotencyKey: 'same' });
    const second = await post(other, path, { amount: 200, idempotencyKey: 'same' });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect([first.body, second.body]).toMatchObject([
      { amount: 100, actor: one.id },
      { amount: 200, actor: other.id },
    ]);
    const repeated = await post(one, path, { amount: 100, idempotencyKey: 'same' });
    expect(repeated.body).toEqual(first.body);
    expect(repeated.headers['idempotent-replayed']).toBe('true');
    const reused = await post(other, path, { amount: 100, idempotencyKey: 'same' });
    expect([reused.status, reused.body]).toEqual([
      409,
      expect.objectContaining({ code: 'idempotency_key_reused' }),
    ]);
    // After its stored answer expired, the refund itself is the answer.
    await engine.database.query('DELETE FROM idempotency_key');
    const late = await post(other, path, { amount: 200, idempotencyKey: 'same' });
    expect((late.body as Made).id).toBe((second.body as Made).id);
  });

  it('is on payments, credit notes and voids', async () => {
    const payment = await paidBy(one);
    const shown = await engine.http.get(`/v1/payments/${payment}`).set(bearing(other.secret));
    expect(shown.body).toMatchObject({ actor: one.id });

    const customer = await post(one, '/v1/customers', { name: 'Ada' });
    const customerId = (customer.body as Made).id;
    const invoices: { readonly id: string; readonly lines: readonly Made[] }[] = [];
    for (const description of ['Setup', 'Training']) {
      const draft = await post(one, '/v1/invoices', {
        customer_id: customerId,
        currency: 'USD',
        lines: [{ description, amount: 1_000 }],
      });
      expect(draft.status).toBe(201);
      const finalized = await post(one, `/v1/invoices/${(draft.body as Made).id}/finalize`, {});
      expect(finalized.body).toMatchObject({ status: 'open', voided_by: null });
      invoices.push(finalized.body as (typeof invoices)[number]);
    }
    const [voided, credited] = invoices;
    const isVoid = await post(other, `/v1/invoices/${voided?.id}/void`, {});
    expect(isVoid.body).toMatchObject({ status: 'void', voided_by: other.id });
    const note = await post(one, '/v1/credit-notes', {
      invoice_id: credited?.id,
      lines: [{ invoice_line_id: credited?.lines[0]?.id, amount: 400 }],
      reason: 'Late',
      settle: 'credit',
    });
    expect(note.body).toMatchObject({ actor: one.id, voided_by: null });
    const { id: noteId } = note.body as Made;
    const voidNote = await post(other, `/v1/credit-notes/${noteId}/void`, {});
    expect(voidNote.body).toMatchObject({ actor: one.id, voided_by: other.id });
    const read = await engine.http.get(`/v1/credit-notes/${noteId}`).set(bearing(one.secret));
    expect(read.body).toEqual(voidNote.body);
  });

  it('owns its idempotency keys: another key never gets its answers', async () => {
    const customer = { name: 'Ada' };
    const [mine, theirs, again] = [
      await post(one, '/v1/customers', customer, 'k'),
      await post(other, '/v1/customers', customer, 'k'),
      await post(one, '/v1/customers', customer, 'k'),
    ];
    expect((theirs.body as Made).id).not.toBe((mine.body as Made).id);
    expect(again.body).toEqual(mine.body);
  });

  it('can send an Idempotency-Key of 255 characters', async () => {
    const { status } = await post(one, '/v1/customers', { name: 'Ada' }, '~'.repeat(255));
    expect(status).toBe(201);
  });
});

describe('the actor of a change without credentials', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it('is open', async () => {
    const created = await engine.http.post('/v1/customers').send({ name: 'Ada' });
    const { id } = created.body as Made;
    const { body } = await engine.http.get(`/v1/events?object_id=${id}`);
    expect(body).toMatchObject({ data: [{ actor: 'open' }] });
  });

  it('is the worker where no request asks for it', async () => {
    const { app, database, clock } = engine;
    const record = { type: 'test.done', object: { id: 'test_1' }, previous: {} };
    await database.transaction(() =>
      app.get(Outbox).recordAll([{ ...record, occurredAt: clock.now() }]),
    );
    expect(
      await database.query('SELECT actor FROM event WHERE object_id = $1', ['test_1']),
    ).toEqual([{ actor: 'worker' }]);
  });
});
