import { DueRefunds } from '../../src/modules/refunds/due-refunds';
import { createPayment } from '../support/billing';
import { unpost } from '../support/ledger';
import { eventsOf, startTestApp, type TestApp } from '../support/test-app';

describe('refunds', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const refund = (payment: string, body: object = {}) =>
    engine.http.post(`/v1/refunds/payment/${payment}`).send(body);
  const payment = async (id: string) =>
    (await engine.http.get(`/v1/payments/${id}`)).body as object;
  const read = async (id: string) => (await engine.http.get(`/v1/refunds/${id}`)).body as object;
  const tagged = async (id: string) => {
    const { headers, body } = await engine.http.get(`/v1/payments/${id}`);
    return { tag: headers['etag'], updatedAt: (body as { updated_at: string }).updated_at };
  };
  const finishDue = async () => {
    const worker = engine.app.get(DueRefunds);
    await worker.runDue();
    await worker.idle();
  };
  const idOf = (answer: { body: unknown }) => (answer.body as { id: string }).id;

  it('give back a part of a payment, with every field the API shows', async () => {
    const of = await createPayment(engine);
    const answer = await refund(of, {
      amount: 2_500,
      reason: 'Arrived broken',
      idempotencyKey: `${of}-1`,
      metadata: { ticket: 7 },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      actor: 'open',
      source: 'api',
      credit_note_id: null,
      id: expect.stringMatching(/^ref_/) as string,
      payment_id: of,
      customer_id: ((await payment(of)) as { customer_id: string }).customer_id,
      amount: 2_500,
      currency: 'USD',
      status: 'succeeded',
      reason: 'Arrived broken',
      idempotencyKey: `${of}-1`,
      failure_code: null,
      metadata: { ticket: 7 },
      created_at: '2026-03-01T09:30:00.000Z',
      updated_at: '2026-03-01T09:30:00.000Z',
    });
    expect(await read(idOf(answer))).toEqual(answer.body);
    expect(await payment(of)).toMatchObject({ amount_refunded: 2_500, amount_refund_pending: 0 });
    const events = await eventsOf(engine, idOf(answer));
    expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
      ['refund.created', 1],
      ['refund.succeeded', 2],
    ]);
    expect(events[1]?.data).toEqual({ object: answer.body, previous: { status: 'pending' } });
  });

  describe('change their payment', () => {
    it('visibly: its version and its time, with the reservation and with the outcome', async () => {
      const of = await createPayment(engine, { payment_method_id: 'pm_sandbox_refund_pending' });
      const paid = await tagged(of);
      engine.clock.advanceMs(1_000);
      const pending = await refund(of, { amount: 1_000 });
      const reserved = await tagged(of);
      expect(reserved.tag).not.toBe(paid.tag);
      expect(reserved.updatedAt).toBe(engine.clock.now().toISOString());
      engine.clock.advanceMs(1_000);
      await engine.http
        .post(`/v1/sandbox/refunds/${idOf(pending)}/settle`)
        .send({ outcome: 'failed' });
      const freed = await tagged(of);
      expect(freed.tag).not.toBe(reserved.tag);
      expect(freed.updatedAt).toBe(engine.clock.now().toISOString());
    });

    it.each([
      [
        'succeeded',
        { amount_refunded: 2_500 },
        { amount_refunded: 0, amount_refund_pending: 2_500 },
      ],
      ['failed', { amount_refunded: 0 }, { amount_refund_pending: 2_500 }],
    ])('and record its event once, after they %s', async (outcome, shown, previous) => {
      const of = await createPayment(engine, { payment_method_id: 'pm_sandbox_refund_pending' });
      const pending = await refund(of, { amount: 2_500 });
      expect(await eventsOf(engine, of)).toHaveLength(2);
      await engine.http.post(`/v1/sandbox/refunds/${idOf(pending)}/settle`).send({ outcome });
      const [, , ...after] = await eventsOf(engine, of);
      expect(after).toEqual([
        { type: 'payment.updated', sequence: 3, data: { object: await payment(of), previous } },
      ]);
      expect(after[0]?.data.object).toMatchObject({ ...shown, amount_refund_pending: 0 });
    });
  });

  it('without an amount give back the rest', async () => {
    const of = await createPayment(engine);
    await refund(of, { amount: 1 });
    expect((await refund(of)).body).toMatchObject({
      amount: 9_999,
      reason: null,
      idempotencyKey: null,
    });
    const nothingLeft = await refund(of);
    expect(nothingLeft.status).toBe(422);
    expect(nothingLeft.body).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 0,
    });
  });

  it('beyond the rest are refused with the rest, and change nothing', async () => {
    const of = await createPayment(engine);
    await refund(of, { amount: 4_000 });
    const answer = await refund(of, { amount: 6_001 });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'refund_amount_exceeds_refundable',
      refundable_amount: 6_000,
    });
    expect(await payment(of)).toMatchObject({ amount_refunded: 4_000, amount_refund_pending: 0 });
    const listed = await engine.http.get('/v1/refunds').query({ payment_id: of });
    expect((listed.body as { data: unknown[] }).data).toHaveLength(1);
  });

  it.each(['pm_sandbox_pending', 'pm_sandbox_declined'])(
    'of a payment with %s, which has not succeeded, are refused',
    async (token) => {
      const of = await createPayment(engine, { payment_method_id: token });
      const answer = await refund(of, { amount: 1 });
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ code: 'payment_not_refundable' });
    },
  );

  it('that the provider refuses fail, and free their amount', async () => {
    const of = await createPayment(engine, { payment_method_id: 'pm_sandbox_refund_fails' });
    const answer = await refund(of, { amount: 10_000 });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ status: 'failed', failure_code: 'refund_declined' });
    expect(await payment(of)).toMatchObject({ amount_refunded: 0, amount_refund_pending: 0 });
    expect((await eventsOf(engine, idOf(answer))).map(({ type }) => type)).toEqual([
      'refund.created',
      'refund.failed',
    ]);
  });

  describe('that are pending', () => {
    it('reserve their amount until the sandbox settles them', async () => {
      const of = await createPayment(engine, { payment_method_id: 'pm_sandbox_refund_pending' });
      const first = await refund(of, { amount: 7_000 });
      expect(first.body).toMatchObject({ status: 'pending' });
      expect(await payment(of)).toMatchObject({ amount_refunded: 0, amount_refund_pending: 7_000 });
      expect((await refund(of, { amount: 3_001 })).body).toMatchObject({
        refundable_amount: 3_000,
      });

      const settle = (id: string, body: object) =>
        engine.http.post(`/v1/sandbox/refunds/${id}/settle`).send(body);
      expect((await settle(idOf(first), { outcome: 'failed' })).body).toMatchObject({
        status: 'failed',
        failure_code: 'declined',
      });
      expect(await payment(of)).toMatchObject({ amount_refunded: 0, amount_refund_pending: 0 });

      const second = await refund(of, { amount: 10_000 });
      expect((await settle(idOf(second), { outcome: 'succeeded' })).body).toMatchObject({
        status: 'succeeded',
      });
      const again = await settle(idOf(second), { outcome: 'failed' });
      expect(again.status).toBe(409);
      expect(again.body).toMatchObject({ code: 'refund_not_in_sandbox' });
      expect(await payment(of)).toMatchObject({
        amount_refunded: 10_000,
        amount_refund_pending: 0,
      });
    });

    it('settle once for six concurrent requests with one key, all with the same response', async () => {
      const of = await createPayment(engine, { payment_method_id: 'pm_sandbox_refund_pending' });
      const id = idOf(await refund(of, { amount: 100 }));
      const answers = await Promise.all(
        Array.from({ length: 6 }, () =>
          engine.http
            .post(`/v1/sandbox/refunds/${id}/settle`)
            .set('Idempotency-Key', `settle-${id}`)
            .send({ outcome: 'succeeded' }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(await payment(of)).toMatchObject({ amount_refunded: 100, amount_refund_pending: 0 });
    });

    it('without a response of the provider are finished by the worker, once', async () => {
      const of = await createPayment(engine);
      await engine.database.query(
        `UPDATE payment SET provider_reference = replace(provider_reference, 'ok', 'unknown') WHERE id = $1`,
        [of],
      );
      const answer = await refund(of, { amount: 2_000, idempotencyKey: `${of}-unknown` });
      expect(answer.body).toMatchObject({ status: 'pending' });
      engine.clock.advanceMs(5_000);
      await Promise.all([finishDue(), finishDue(), finishDue()]);
      await finishDue();
      expect(await read(idOf(answer))).toMatchObject({ status: 'succeeded' });
      expect(await payment(of)).toMatchObject({ amount_refunded: 2_000, amount_refund_pending: 0 });
      expect((await eventsOf(engine, idOf(answer))).map(({ type }) => type)).toEqual([
        'refund.created',
        'refund.succeeded',
      ]);
      const repeated = await refund(of, { amount: 2_000, idempotencyKey: `${of}-unknown` });
      expect(repeated.text).toBe(answer.text);
    });

    it.each(['before the provider call', 'after the provider call'])(
      'left by a crash %s are finished by the worker, once, with the response for their key',
      async (moment) => {
        const of = await createPayment(engine);
        const key = `${of}-crash`;
        const answer = await refund(of, { amount: 1_500, idempotencyKey: key });
        // The rows between the two commits of the request.
        await engine.database.query(
          `UPDATE refund SET status = 'pending', version = 1, due_at = $2 WHERE id = $1`,
          [idOf(answer), engine.clock.now()],
        );
        await engine.database.query(
          'UPDATE payment SET amount_refunded = 0, amount_refund_pending = 1500 WHERE id = $1',
          [of],
        );
        await engine.database.query(
          `UPDATE idempotency_key SET answer_status = NULL, answer_headers = NULL, answer_body = NULL
           WHERE resource_id = $1`,
          [idOf(answer)],
        );
        await engine.database.query(
          `WITH gone AS (DELETE FROM event WHERE object_id = $1 AND type = 'refund.succeeded' RETURNING id)
           DELETE FROM event_dispatch WHERE event_id IN (SELECT id FROM gone)`,
          [idOf(answer)],
        );
        await unpost(engine, idOf(answer));
        if (moment.startsWith('before')) {
          await engine.database.query('DELETE FROM sandbox_operation WHERE key = $1', [
            `refund:${idOf(answer)}`,
          ]);
        }
        await finishDue();
        expect(await payment(of)).toMatchObject({
          amount_refunded: 1_500,
          amount_refund_pending: 0,
        });
        const repeated = await refund(of, { amount: 1_500, idempotencyKey: key });
        expect(repeated.status).toBe(201);
        expect(repeated.headers['idempotent-replayed']).toBe('true');
        expect(repeated.body).toEqual(await read(idOf(answer)));
        expect((await eventsOf(engine, idOf(answer))).map(({ type }) => type)).toEqual([
          'refund.created',
          'refund.succeeded',
        ]);
      },
    );
  });

  describe('made concurrently', () => {
    async function refundFortyTimes(of: string, apps: readonly TestApp[]) {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          (apps[index % apps.length] ?? engine).http
            .post(`/v1/refunds/payment/${of}`)
            .send({ amount: 1_000 }),
        ),
      );
      return {
        succeeded: answers.filter(({ status }) => status === 201).length,
        refused: answers.filter(({ status }) => status === 422).length,
      };
    }

    it('never exceed the payment', async () => {
      const of = await createPayment(engine);
      expect(await refundFortyTimes(of, [engine])).toEqual({ succeeded: 10, refused: 30 });
      expect(await payment(of)).toMatchObject({
        amount_refunded: 10_000,
        amount_refund_pending: 0,
      });
    });

    it('never exceed the payment in two processes on one database', async () => {
      const other = await startTestApp({ databaseUrl: engine.databaseUrl });
      try {
        const of = await createPayment(engine);
        expect(await refundFortyTimes(of, [engine, other])).toEqual({ succeeded: 10, refused: 30 });
        expect(await payment(of)).toMatchObject({ amount_refunded: 10_000 });
      } finally {
        await other.close();
      }
    });

    it('with one idempotencyKey are one refund with the same response', async () => {
      const of = await createPayment(engine);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => refund(of, { amount: 1_000, idempotencyKey: `${of}-50` })),
      );
      expect(answers.every(({ status }) => status === 201)).toBe(true);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(await payment(of)).toMatchObject({ amount_refunded: 1_000 });
    });
  });

  describe('with keys', () => {
    it('in the header and in the body use the same key', async () => {
      const of = await createPayment(engine);
      const key = `${of}-both`;
      const inBody = await refund(of, { amount: 10, idempotencyKey: key });
      const inHeader = await refund(of, { amount: 10 }).set('Idempotency-Key', key);
      const inBoth = await refund(of, { amount: 10, idempotencyKey: key }).set(
        'Idempotency-Key',
        key,
      );
      expect(inHeader.text).toBe(inBody.text);
      expect(inBoth.text).toBe(inBody.text);
    });

    it('with spaces at their ends are refused in the body, because a header loses them', async () => {
      const of = await createPayment(engine);
      for (const idempotencyKey of [' a', 'a ', ' ']) {
        expect(await refund(of, { amount: 10, idempotencyKey })).toMatchObject({
          status: 400,
          body: { code: 'validation_failed', errors: [{ pointer: '/idempotencyKey' }] },
        });
      }
      const inBody = await refund(of, { amount: 10, idempotencyKey: `${of} key` });
      const inHeader = await refund(of, { amount: 10 }).set('Idempotency-Key', ` ${of} key `);
      expect(inHeader.text).toBe(inBody.text);
    });

    it('that differ in header and body are refused', async () => {
      const of = await createPayment(engine);
      const answer = await refund(of, { amount: 10, idempotencyKey: 'a' }).set(
        'Idempotency-Key',
        'b',
      );
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'idempotency_key_mismatch' });
    });

    it('identify one request: another amount or payment is refused', async () => {
      const of = await createPayment(engine);
      const key = `${of}-reused`;
      await refund(of, { amount: 10, idempotencyKey: key });
      for (const [path, amount] of [
        [of, 11],
        [await createPayment(engine), 10],
      ] as const) {
        const answer = await refund(path, { amount, idempotencyKey: key });
        expect(answer.status).toBe(409);
        expect(answer.body).toMatchObject({ code: 'idempotency_key_reused' });
      }
    });

    it('get a stored refusal again', async () => {
      const of = await createPayment(engine);
      const ask = (requestId: string) =>
        refund(of, { amount: 20_000, idempotencyKey: `${of}-refused` }).set(
          'X-Request-Id',
          requestId,
        );
      const first = await ask('first-try');
      expect(first.status).toBe(422);
      expect(first.body).toMatchObject({ request_id: 'first-try' });
      const second = await ask('second-try');
      expect(second.status).toBe(422);
      expect(second.text).toBe(first.text.replace('first-try', 'second-try'));
      expect(second.headers['content-type']).toMatch(/^application\/problem\+json/);
      expect(second.headers['idempotent-replayed']).toBe('true');
    });

    it('have unique keys forever, longer than responses are kept', async () => {
      const of = await createPayment(engine);
      const key = `${of}-old`;
      const first = await refund(of, { amount: 10, idempotencyKey: key });
      engine.clock.advanceMs(31 * 86_400_000);
      const again = await refund(of, { amount: 10, idempotencyKey: key });
      expect(again.status).toBe(201);
      expect(again.body).toEqual(first.body);
      const other = await refund(of, { amount: 11, idempotencyKey: key });
      expect(other.status).toBe(409);
      expect(other.body).toMatchObject({ code: 'idempotency_key_reused' });
      expect(await payment(of)).toMatchObject({ amount_refunded: 10 });
    });

    it.each([
      ['all of it', { amount: 10_000 }],
      ['all that was left', {}],
    ])(
      'get a response after 30 days also if nothing is left (%s), and for 30 more days',
      async (_, body) => {
        const of = await createPayment(engine);
        const request = { ...body, idempotencyKey: `${of}-whole`, metadata: { ticket: 7 } };
        const first = await refund(of, request);
        expect(first.status).toBe(201);
        for (let times = 0; times < 2; times += 1) {
          engine.clock.advanceMs(31 * 86_400_000);
          const again = await refund(of, request);
          expect([again.status, again.text]).toEqual([201, first.text]);
          expect(again.headers['etag']).toBe(first.headers['etag']);
          expect(again.headers['idempotent-replayed']).toBeUndefined();
          const stored = await refund(of, request);
          expect([stored.status, stored.text]).toEqual([201, first.text]);
          expect(stored.headers['etag']).toBe(first.headers['etag']);
          expect(stored.headers['idempotent-replayed']).toBe('true');
        }
        expect(await payment(of)).toMatchObject({
          amount_refunded: 10_000,
          amount_refund_pending: 0,
        });
      },
    );

    it('are found after 30 days although another request uses the key', async () => {
      const of = await createPayment(engine);
      const request = { amount: 10_000, idempotencyKey: `${of}-kept`, metadata: { ticket: 7 } };
      const first = await refund(of, request);
      engine.clock.advanceMs(31 * 86_400_000);
      for (const change of [{ amount: 1 }, { metadata: { ticket: 8 } }, { reason: 'other' }]) {
        const other = await refund(of, { ...request, ...change });
        expect(other.status).toBe(409);
        expect(other.body).toMatchObject({ code: 'idempotency_key_reused' });
      }
      const again = await refund(of, request);
      expect(again.status).toBe(201);
      expect(again.text).toBe(first.text);
    });

    it('get the one refund for many concurrent requests after 30 days', async () => {
      const of = await createPayment(engine);
      const ask = () => refund(of, { idempotencyKey: `${of}-many` });
      const first = await ask();
      engine.clock.advanceMs(31 * 86_400_000);
      const answers = await Promise.all(Array.from({ length: 8 }, ask));
      expect(answers.map(({ status, text }) => [status, text])).toEqual(
        Array(8).fill([201, first.text]),
      );
    });
  });

  it.each([
    [{ amount: 0 }, '/amount'],
    [{ amount: -1 }, '/amount'],
    [{ amount: 1.5 }, '/amount'],
    [{ amount: '10' }, '/amount'],
    [{ amount: null }, '/amount'],
    [{ reason: 'x'.repeat(501) }, '/reason'],
    [{ reason: 5 }, '/reason'],
    [{ idempotencyKey: '' }, '/idempotencyKey'],
    [{ idempotencyKey: 'é' }, '/idempotencyKey'],
    [{ idempotencyKey: 'x'.repeat(256) }, '/idempotencyKey'],
    [{ idempotency_key: 'x' }, '/idempotency_key'],
  ])('with %j are refused', async (body, pointer) => {
    const of = await createPayment(engine);
    const answer = await refund(of, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'validation_failed' });
    const { errors } = answer.body as { errors: { pointer: string }[] };
    expect(new Set(errors.map((error) => error.pointer))).toEqual(new Set([pointer]));
    expect(await payment(of)).toMatchObject({ amount_refunded: 0, amount_refund_pending: 0 });
  });

  it('of a manual payment are recorded', async () => {
    const of = await createPayment(engine, { provider: 'manual' });
    expect((await refund(of, { amount: 3 })).body).toMatchObject({
      status: 'succeeded',
      amount: 3,
    });
  });

  it('and payments with unknown ids give 404', async () => {
    for (const id of ['pay_01h455vb4pex5vsknk084sn02q', 'nope']) {
      const answer = await refund(id, { amount: 1 });
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ code: 'payment_not_found' });
    }
    for (const id of ['ref_01h455vb4pex5vsknk084sn02q', 'nope']) {
      expect((await engine.http.get(`/v1/refunds/${id}`)).body).toMatchObject({
        code: 'refund_not_found',
      });
    }
  });
});
