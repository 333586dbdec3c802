import { Allowances, createEntitlement } from '../support/allowances';
import { untilSessionsWait } from '../support/lock-waits';
import { openTransaction } from '../support/open-transaction';
import { startTestApp, Story, type TestApp } from '../support/story';
import { EVENTS } from '../support/stored-events';

describe('test clocks', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const create = (now: string) => engine.http.post('/v1/test-clocks').send({ name: 'A year', now });
  const advance = (id: string, to: string) =>
    engine.http.post(`/v1/test-clocks/${id}/advance`).send({ to });

  it('are created, read and listed', async () => {
    const { status, body } = await create('2030-01-31T02:00:00+02:00');
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^clock_/) as string,
      name: 'A year',
      now: '2030-01-31T00:00:00.000Z',
      status: 'ready',
      advances_to: null,
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    const { id } = body as { id: string };
    expect((await engine.http.get(`/v1/test-clocks/${id}`)).body).toEqual(body);
    expect((await engine.http.get('/v1/test-clocks?limit=1')).body).toMatchObject({ data: [body] });
  });

  it('move forward only, by at most ten years at a time', async () => {
    const { id } = (await create('2030-01-31T00:00:00Z')).body as { id: string };
    expect((await advance(id, '2031-01-31T00:00:00Z')).body).toMatchObject({
      now: '2031-01-31T00:00:00.000Z',
      status: 'ready',
    });
    for (const to of ['2031-01-30T23:59:59.999Z', '2042-01-01T00:00:00Z']) {
      expect((await advance(id, to)).body).toMatchObject({
        status: 422,
        code: 'test_clock_cannot_reach',
        now: '2031-01-31T00:00:00.000Z',
      });
    }
    expect(
      (await advance('clock_01h455vb4pex5vsknk084sn02q', '2031-01-01T00:00:00Z')).body,
    ).toMatchObject({
      status: 404,
      code: 'test_clock_not_found',
    });
  });

  it('keep updated_at when a process whose clock is behind advances them', async () => {
    const { body } = await create('2030-01-31T00:00:00Z');
    const { id, updated_at } = body as { id: string; updated_at: string };
    engine.clock.advanceMs(-3_000);
    const advanced = await advance(id, '2030-02-28T00:00:00Z');
    engine.clock.advanceMs(3_000);
    expect(advanced.body).toMatchObject({ now: '2030-02-28T00:00:00.000Z', updated_at });
  });

  it('have times in the years 1970 to 9000 in UTC', async () => {
    const refused = (pointer: string) => ({
      status: 400,
      code: 'validation_failed',
      errors: [
        { pointer, code: 'is_instant', message: expect.stringMatching('1970 to 9000') as string },
      ],
    });
    for (const now of [
      '0001-01-01T00:00:00Z',
      '1969-12-31T23:59:59.999Z',
      '1970-01-01T00:00:00+00:01',
      '9001-01-01T00:00:00Z',
      '9000-12-31T23:59:59-00:01',
      '9999-12-31T23:59:59.999Z',
    ]) {
      expect((await create(now)).body).toMatchObject(refused('/now'));
    }
    const { id } = (await create('8999-01-01T00:00:00Z')).body as { id: string };
    expect((await advance(id, '9001-01-01T00:00:00Z')).body).toMatchObject(refused('/to'));
    await advance(id, '9000-12-31T23:59:59.999Z').expect(200);
  });

  it.each([
    ['first', '1970-01-01T00:00:00.000Z', '1971-03-01T00:00:00.000Z'],
    ['last', '8999-10-31T00:00:00.000Z', '9000-12-31T23:59:59.999Z'],
  ])('bill subscriptions at the %s instants', async (_, from, to) => {
    for (const timezone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      const story = await Story.begin(engine, from, { timezone });
      for (const anchor of ['calendar', 'anniversary']) {
        await story.subscribe(await story.plan(1_000), {
          billing_anchor: anchor,
          collection: 'send_invoice',
          days_until_due: 365,
        });
      }
      const plan = await story.plan(1_000, { interval: 'year', interval_count: 365 });
      await story.subscribe(plan, { billing_anchor: 'anniversary' });
      await story.advance(to);
      expect((await story.invoices()).length).toBeGreaterThan(24);
      await story.verify();
    }
  });

  it('show which work falls due next, and do exactly that work when they are advanced to it', async () => {
    const next = async (id: string) =>
      (await engine.http.get(`/v1/test-clocks/${id}/next`)).body as object;
    const empty = (await create('2026-03-01T00:00:00Z')).body as { id: string };
    expect(await next(empty.id)).toEqual({ due_at: null, work: [] });
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    await story.subscribe(await story.plan(1_000));
    const { clockId: clock } = story;
    expect(await next(clock)).toEqual({
      due_at: '2026-03-01T00:00:00.000Z',
      work: ['invoice_collected'],
    });
    await advance(clock, '2026-03-01T00:00:00.000Z');
    const renewal = '2026-04-01T00:00:00.000Z';
    expect(await next(clock)).toEqual({ due_at: renewal, work: ['subscription_due'] });
    expect((await advance(clock, '2026-03-31T23:59:59.999Z')).status).toBe(200);
    expect(await next(clock)).toEqual({ due_at: renewal, work: ['subscription_due'] });
    expect((await advance(clock, renewal)).body).toMatchObject({ now: renewal });
    expect(await next(clock)).toMatchObject({ due_at: '2026-05-01T00:00:00.000Z' });
    const unknown = await engine.http.get('/v1/test-clocks/clock_01h455vb4pex5vsknk084sn02q/next');
    expect([unknown.status, unknown.body]).toMatchObject([404, { code: 'test_clock_not_found' }]);
  });

  it('refuse commands while advancing, and continue after a crash', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    const plan = await story.plan(1_000);
    await story.subscribe(plan);
    // State left by a process killed while advancing.
    await engine.database.query(
      `UPDATE test_clock SET status = 'advancing', target_at = $2, lease_ends_at = $3 WHERE id = $1`,
      [story.clockId, '2026-06-01T00:00:00Z', '2026-03-01T09:31:00Z'],
    );
    const body = { customer_id: story.customerId, plan_id: plan };
    expect((await engine.http.post('/v1/subscriptions').send(body)).body).toMatchObject({
      status: 409,
      code: 'test_clock_advancing',
    });
    const again = () => advance(story.clockId, '2026-06-01T00:00:00Z');
    expect((await again()).body).toMatchObject({ status: 409, code: 'test_clock_advancing' });
    engine.clock.set('2026-03-01T09:31:00.000Z');
    expect((await advance(story.clockId, '2026-07-01T00:00:00Z')).status).toBe(409);
    expect((await again()).body).toMatchObject({
      status: 'ready',
      now: '2026-06-01T00:00:00.000Z',
    });
    expect(await story.invoices()).toHaveLength(4);
    await story.verify();
  });

  it('store no refused consumption while advancing or failed', async () => {
    const { id: clockId } = (await create('2026-03-01T00:00:00Z')).body as { id: string };
    const customer = await engine.http
      .post('/v1/customers')
      .send({ name: 'Ada', test_clock_id: clockId });
    const allowances = new Allowances(engine, (customer.body as { id: string }).id);
    const { key } = await createEntitlement(engine);
    await allowances.grant(key, { value: '10' });
    expect(await allowances.consume(key, '11', 'stored')).toMatchObject({ allowed: false });
    const consume = async (quantity: string, idempotency_key: string) => {
      const body = { quantity, idempotency_key };
      return (await engine.http.post(`${allowances.path(key)}/consume`).send(body)).body as object;
    };
    const setStatus = (status: string, target: string | null = null) =>
      engine.database.query('UPDATE test_clock SET status = $2, target_at = $3 WHERE id = $1', [
        clockId,
        status,
        target,
      ]);
    for (const status of ['advancing', 'failed']) {
      await setStatus(status, '2026-03-02T00:00:00Z');
      const refusal = { status: 409, code: `test_clock_${status}` };
      expect(await consume('10', 'allowed')).toMatchObject(refusal);
      expect(await consume('11', 'refused')).toMatchObject(refusal);
      expect(await consume('11', 'stored')).toMatchObject({ allowed: false });
    }
    await setStatus('ready');
    await allowances.grant(key, { value: '1' });
    expect(await allowances.consume(key, '11', 'refused')).toMatchObject({ allowed: true });
  });

  it('that end their advance while a refusal waits for them have it decided at their new time', async () => {
    const story = await Story.begin(engine, '2026-03-01T12:00:00.000Z');
    const { id, key } = await createEntitlement(engine);
    const entitlements = [{ entitlement_id: id, value: '10', reset: 'day' }];
    await story.subscribe((await story.planOf([], { entitlements })).id);
    const allowances = new Allowances(engine, story.customerId);
    expect(await allowances.consume(key, '10')).toMatchObject({ allowed: true });
    await engine.database.query(
      `UPDATE test_clock SET status = 'advancing', instant = '2026-03-01T18:00:00Z', target_at = '2026-03-03T12:00:00Z'
       WHERE id = $1`,
      [story.clockId],
    );
    // As the last transaction of an advance.
    const commit = await openTransaction(engine.database, () =>
      engine.database.query(
        `UPDATE test_clock SET status = 'ready', instant = target_at, target_at = NULL WHERE id = $1`,
        [story.clockId],
      ),
    );
    const consumed = allowances.consume(key, '5');
    await untilSessionsWait(engine.database);
    await commit();
    expect(await consumed).toMatchObject({ allowed: true });
  });

  it('continue with the same call after a failure of the database', async () => {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z');
    await story.subscribe(await story.plan(1_000));
    const again = () => advance(story.clockId, '2026-06-01T00:00:00Z');
    await engine.database.query(`CREATE FUNCTION out_of_locks() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''55P03''; END'`);
    await engine.database.query(
      'CREATE TRIGGER busy BEFORE INSERT ON invoice FOR EACH STATEMENT EXECUTE FUNCTION out_of_locks()',
    );
    const { status, body } = await again();
    await engine.database.query('DROP FUNCTION out_of_locks CASCADE');
    expect([status, body]).toMatchObject([503, { code: 'outcome_unknown' }]);
    expect((await again()).body).toMatchObject({
      status: 'ready',
      now: '2026-06-01T00:00:00.000Z',
    });
    expect(await story.invoices()).toHaveLength(4);
    await story.verify();
  });

  it('give the same amounts, lines and numbers of events for the same commands', async () => {
    const runCommands = async (): Promise<unknown> => {
      const story = await Story.begin(engine, '2026-01-31T00:00:00.000Z', {
        timezone: 'Europe/Paris',
      });
      const { id } = await story.subscribe(await story.seats('333'), {
        quantity: '3',
        trial_days: 10,
      });
      await story.advance('2026-03-20T00:00:00.000Z');
      await story.command(id, 'change', { quantity: '7', when: 'now' });
      await story.advance('2026-08-01T00:00:00.000Z');
      await story.command(id, 'cancel', { when: 'now', credit_unused: true });
      const events = await engine.database.query<{ type: string }>(
        `SELECT type FROM ${EVENTS} WHERE data::text LIKE '%' || $1 || '%' ORDER BY id`,
        [story.customerId],
      );
      return { amounts: await story.amounts(), starts: await story.starts(), events };
    };
    expect(await runCommands()).toEqual(await runCommands());
  });

  it('date their customers and payment methods, and the events about them', async () => {
    const at = '2030-03-01T00:00:00.000Z';
    const later = '2030-03-02T00:00:00.000Z';
    const story = await Story.begin(engine, at);
    const path = `/v1/customers/${story.customerId}`;
    const method = { provider: 'sandbox', token: 'pm_sandbox_ok' };
    const add = async () =>
      (await engine.http.post(`${path}/payment-methods`).send(method).expect(201)).body as {
        id: string;
      };
    const [, other] = [await add(), await add()];
    expect(other).toMatchObject({ created_at: at, updated_at: at });
    await story.advance(later);
    const methodPath = `${path}/payment-methods/${other.id}`;
    await engine.http.patch(methodPath).send({ is_default: true }).expect(200);
    await engine.http.delete(methodPath).expect(204);
    const { body } = await engine.http.patch(path).send({ name: 'Bob' }).expect(200);
    expect(body).toMatchObject({ created_at: at, updated_at: later });
    await engine.http.delete(path).expect(204);
    const { body: page } = await engine.http.get(
      `/v1/events?limit=20&customer_id=${story.customerId}`,
    );
    const events = (page as { data: { type: string; timestamp: string }[] }).data;
    expect(events.map(({ type, timestamp }) => [type, timestamp]).reverse()).toEqual([
      ['customer.created', at],
      ['payment_method.created', at],
      ['payment_method.created', at],
      ['payment_method.updated', later],
      ['payment_method.updated', later],
      ['payment_method.deleted', later],
      ['customer.updated', later],
      ['customer.deleted', later],
    ]);
  });

  it('date payments, refunds and their ledger transactions', async () => {
    for (const at of ['2030-03-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z']) {
      const story = await Story.begin(engine, at);
      const payment = { customer_id: story.customerId, amount: 1_000, currency: 'USD' };
      const create = async (token: string) =>
        (
          await engine.http
            .post('/v1/payments')
            .send({ ...payment, payment_method_id: token })
            .expect(201)
        ).body as { id: string };
      const paid = await create('pm_sandbox_ok');
      expect(paid).toMatchObject({ created_at: at, updated_at: at });
      const slow = await create('pm_sandbox_refund_pending');
      const later = new Date(Date.parse(at) + 86_400_000).toISOString();
      await story.advance(later);
      const refund = async (id: string) =>
        (await engine.http.post(`/v1/refunds/payment/${id}`).send({ amount: 400 }).expect(201))
          .body as { id: string };
      const refunded = await refund(paid.id);
      expect(refunded).toMatchObject({ status: 'succeeded', created_at: later, updated_at: later });
      const pending = await refund(slow.id);
      const last = new Date(Date.parse(later) + 86_400_000).toISOString();
      await story.advance(last);
      const settle = `/v1/sandbox/refunds/${pending.id}/settle`;
      const { body: failed } = await engine.http.post(settle).send({ outcome: 'failed' });
      expect(failed).toMatchObject({ status: 'failed', created_at: later, updated_at: last });
      const timesOf = async (id: string) =>
        (
          await engine.database.query<{ type: string; occurred_at: Date }>(
            `SELECT type, occurred_at FROM ${EVENTS} WHERE object_id = $1 ORDER BY sequence`,
            [id],
          )
        ).map(({ type, occurred_at: time }) => [type, time.toISOString()]);
      expect(await timesOf(paid.id)).toEqual([
        ['payment.created', at],
        ['payment.succeeded', at],
        ['payment.updated', later],
      ]);
      expect(await timesOf(pending.id)).toEqual([
        ['refund.created', later],
        ['refund.failed', last],
      ]);
      const { body } = await engine.http.get(
        `/v1/ledger/transactions?customer_id=${story.customerId}`,
      );
      const { data } = body as { data: { kind: string; occurred_at: string }[] };
      expect(data.map(({ kind, occurred_at: time }) => [kind, time])).toEqual([
        ['refund', later],
        ['payment', at],
        ['payment', at],
      ]);
      await story.verify();
    }
  });

  it('must exist when a customer is created with one', async () => {
    const answer = await engine.http
      .post('/v1/customers')
      .send({ name: 'Ada', test_clock_id: 'clock_01h455vb4pex5vsknk084sn02q' });
    expect(answer.body).toMatchObject({ status: 422, code: 'reference_not_found' });
  });
});
