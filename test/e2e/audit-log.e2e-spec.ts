import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AuditTrail } from '../../src/platform/audit';
import { AuditUsageCounts } from '../../src/modules/audit';
import { OutcomeUnknownError } from '../../src/platform/database';
import { runSealing, sealAll } from '../support/audit-seals';
import { untilSessionsWait } from '../support/lock-waits';
import { looksForWriters, openTransaction } from '../support/open-transaction';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const BOOTSTRAP = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

interface Entry {
  readonly id: string;
  readonly actor: { readonly type: string; readonly id: string };
  readonly operation: string | null;
  readonly request_id: string | null;
  readonly address: string | null;
  readonly changes: readonly {
    readonly action: string;
    readonly object_type: string;
    readonly object_id: string;
    readonly changes: Readonly<Record<string, unknown>>;
  }[];
  readonly change_count: number;
}

interface Verification {
  readonly ok: boolean;
  readonly seal_count: number;
  readonly sealed_changes: number;
  readonly unsealed_changes: number;
  readonly faults: readonly { readonly fault: string; readonly seal: string }[];
  readonly empty_entries: readonly string[];
}

describe('the audit log', () => {
  let engine: TestApp;
  let keyId: string;

  beforeAll(async () => {
    engine = await startTestApp({
      environment: {
        AUTH: 'required',
        BOOTSTRAP_API_KEY: BOOTSTRAP,
        PAYMENT_PROVIDERS: 'sandbox',
      },
    });
    const [key] = await engine.database.query<{ id: string }>('SELECT id FROM api_key');
    keyId = key?.id ?? '';
  });

  afterAll(() => engine.close());

  function call(method: 'get' | 'post' | 'patch' | 'delete', path: string, secret = BOOTSTRAP) {
    return engine.http[method](path).set('Authorization', `Bearer ${secret}`);
  }

  async function entries(query = ''): Promise<readonly Entry[]> {
    const { status, body } = await call('get', `/v1/audit-log?limit=100&${query}`);
    expect(status).toBe(200);
    return (body as { data: Entry[] }).data;
  }

  async function entriesFor(requestId: string): Promise<readonly Entry[]> {
    return (await entries()).filter((entry) => entry.request_id === requestId);
  }

  async function createCustomer(requestId: string): Promise<string> {
    const { status, body } = await call('post', '/v1/customers')
      .set('X-Request-Id', requestId)
      .send({ name: 'Ada', email: 'ada@example.com' });
    expect(status).toBe(201);
    return (body as { id: string }).id;
  }

  async function verify(): Promise<Verification> {
    const { status, body } = await call('get', '/v1/audit-log/verify');
    expect(status).toBe(200);
    return body as Verification;
  }

  /** Changes rows as somebody with access to the database could. */
  async function tamper(sql: string): Promise<void> {
    await engine.database.transaction(async () => {
      await engine.database.query('SET LOCAL session_replication_role = replica');
      await engine.database.query(sql);
    });
  }

  it('has one entry for a change, with caller, operation, object, fields, request and address', async () => {
    const id = await createCustomer('create-1');
    await call('patch', `/v1/customers/${id}`).set('X-Request-Id', 'update-1').send({ name: 'B' });
    expect(await entriesFor('create-1')).toEqual([
      expect.objectContaining({
        actor: { type: 'key', id: keyId },
        operation: 'createCustomer',
        address: expect.stringMatching(/127\.0\.0\.1$/) as string,
        change_count: 1,
      }),
    ]);
    const [created] = await entriesFor('create-1');
    expect(created?.changes).toEqual([
      expect.objectContaining({
        action: 'customer.created',
        object_type: 'customer',
        object_id: id,
      }),
    ]);
    expect(created?.changes[0]?.changes).toMatchObject({ name: { after: 'Ada' } });
    const [updated] = await entriesFor('update-1');
    expect(updated?.operation).toBe('updateCustomer');
    expect(updated?.changes[0]?.changes).toEqual({ name: { before: 'Ada', after: 'B' } });
    const read = await call('get', `/v1/audit-log/${updated?.id}`);
    expect(read.body).toEqual(updated);
  });

  it('has one entry for an operation of two commits', async () => {
    const customer = await createCustomer('payer');
    const method = await call('post', `/v1/customers/${customer}/payment-methods`).send({
      provider: 'sandbox',
      token: 'pm_sandbox_ok',
      is_default: true,
    });
    expect(method.status).toBe(201);
    const paid = await call('post', '/v1/payments').set('X-Request-Id', 'pay-1').send({
      customer_id: customer,
      amount: 1_000,
      currency: 'USD',
    });
    expect(paid.status).toBe(201);
    const payment = (paid.body as { id: string }).id;
    const refunded = await call('post', `/v1/refunds/payment/${payment}`)
      .set('X-Request-Id', 'refund-1')
      .send({ amount: 400, reason: 'Late' });
    expect(refunded.status).toBe(201);
    const made = await entriesFor('refund-1');
    expect(made).toHaveLength(1);
    expect(made[0]?.operation).toBe('createRefund');
    expect(made[0]?.changes.map(({ action }) => action)).toEqual([
      'refund.created',
      'payment.updated',
      'credit_balance_transaction.created',
      'refund.succeeded',
    ]);
    expect(await entriesFor('pay-1')).toHaveLength(1);
  });

  it('has no entry for what is refused, rolled back, replayed or changes nothing', async () => {
    const id = await createCustomer('refusals');
    const before = (await entries()).length;
    const invalid = await call('post', '/v1/customers').send({ name: 7 });
    const absent = await call('patch', '/v1/customers/cus_01h455vb4pex5vsknk084sn02q').send({});
    const noOp = await call('patch', `/v1/customers/${id}`).send({ name: 'Ada' });
    const stale = await call('patch', `/v1/customers/${id}`)
      .set('If-Match', '"9"')
      .send({ name: 'C' });
    expect([invalid.status, absent.status, noOp.status, stale.status]).toEqual([
      400, 404, 200, 412,
    ]);
    expect(await entries()).toHaveLength(before);
    const make = () =>
      call('post', '/v1/customers').set('Idempotency-Key', 'same').send({ name: 'Same' });
    const answers = await Promise.all([make(), make()]);
    expect(new Set(answers.map(({ body }) => (body as { id: string }).id)).size).toBe(1);
    expect(await entries()).toHaveLength(before + 1);
  });

  it('names the engine for work without a request', async () => {
    await engine.database.transaction(async () => {
      await engine.app
        .get(AuditTrail)
        .record({ action: 'thing.made', objectId: 'thing_1', fields: { size: 3 } });
    });
    const [made] = await entries('object_id=thing_1');
    expect(made).toMatchObject({
      actor: { type: 'worker', id: 'worker' },
      operation: null,
      request_id: null,
      address: null,
      changes: [{ action: 'thing.made', changes: { size: { after: 3 } } }],
    });
  });

  it('is filtered by caller, operation, object and time', async () => {
    const { body } = await call('post', '/v1/api-keys').send({
      name: 'Writer',
      scopes: ['customers:write'],
    });
    const { id: writer, secret } = body as { id: string; secret: string };
    const made = await call('post', '/v1/customers', secret).send({ name: 'By the writer' });
    const customer = (made.body as { id: string }).id;
    expect(await entries(`actor_id=${writer}`)).toHaveLength(1);
    expect(await entries(`object_id=${customer}`)).toHaveLength(1);
    const keys = await entries('operation=createApiKey');
    expect(keys.map(({ changes }) => changes[0]?.object_id)).toContain(writer);
    expect(JSON.stringify(keys)).not.toContain(secret.slice(8, 20));
    expect(await entries(`object_id=${customer}&to=2020-01-01T00:00:00Z`)).toEqual([]);
    expect(await entries(`object_id=${customer}&from=2020-01-01T00:00:00Z`)).toHaveLength(1);
    const refused = await call('get', '/v1/audit-log', secret);
    expect([refused.status, (refused.body as { required_scope: string }).required_scope]).toEqual([
      403,
      'audit:read',
    ]);
  });

  it('is paged, and exported as a line for each change', async () => {
    const first = await call('get', '/v1/audit-log?limit=1');
    const { data, next_cursor: cursor } = first.body as { data: Entry[]; next_cursor: string };
    const second = await call('get', `/v1/audit-log?limit=1&cursor=${cursor}`);
    const next = (second.body as { data: Entry[] }).data;
    expect([data.length, next.length]).toEqual([1, 1]);
    expect((next[0]?.id ?? '') < (data[0]?.id ?? '')).toBe(true);
    const exported = await call('get', '/v1/audit-log/export').buffer(true);
    const lines = exported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    const counts = (await entries()).map((entry) => entry.change_count);
    expect(lines).toHaveLength(counts.reduce((sum, count) => sum + count, 0));
    expect(lines.at(0)).toMatchObject({ change: { object_id: expect.any(String) as string } });
  });

  describe('exported while a change is written', () => {
    interface Line {
      readonly position: string;
      readonly change: { readonly object_id: string };
    }

    async function exportAfter(position: string): Promise<readonly Line[]> {
      const { status, text } = await call('get', `/v1/audit-log/export?after=${position}`).buffer(
        true,
      );
      expect(status).toBe(200);
      return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
    }

    const recordOpen = (objectId: string) =>
      openTransaction(engine.database, () => {
        const change = { action: 'thing.made', objectId, fields: { size: 1 } };
        return engine.app.get(AuditTrail).record(change);
      });

    it('contains each change once over consecutive exports', async () => {
      const before = await exportAfter('0');
      const start = before.at(-1)?.position ?? '0';
      const commit = await recordOpen('thing_slow');
      const customer = await createCustomer('fast');
      const first = await exportAfter(start).finally(commit);
      const second = await exportAfter(first.at(-1)?.position ?? start);
      const lines = [...first, ...second];
      expect(lines.map(({ change }) => change.object_id)).toEqual(['thing_slow', customer]);
      expect(await exportAfter(lines.at(-1)?.position ?? '0')).toEqual([]);
      expect((await exportAfter('0')).slice(before.length)).toEqual(lines);
    });

    it('ends at the last seal while a writing transaction stays open', async () => {
      await sealAll(engine);
      const sealed = (await exportAfter('0')).at(-1)?.position ?? '0';
      const commit = await recordOpen('thing_open');
      try {
        await createCustomer('unsealed');
        expect((await exportAfter('0')).at(-1)?.position).toBe(sealed);
      } finally {
        await commit();
      }
      expect(await exportAfter(sealed)).toHaveLength(2);
    });

    it('waits for a writing transaction', async () => {
      const start = (await exportAfter('0')).at(-1)?.position ?? '0';
      const commit = await recordOpen('thing_waited_for');
      try {
        const customer = await createCustomer('waiting');
        const looks = await looksForWriters(engine.databaseUrl);
        const exporting = exportAfter(start);
        await until('the export has met the open transaction', looks);
        await commit();
        const objects = (await exporting).map(({ change }) => change.object_id);
        expect(objects).toEqual(['thing_waited_for', customer]);
      } finally {
        await commit();
      }
    });

    it('refuses a position that is no number', async () => {
      for (const after of ['', '-1', 'x', '1'.repeat(19)]) {
        const refused = await call('get', `/v1/audit-log/export?after=${after}`);
        expect([refused.status, (refused.body as { code: string }).code]).toEqual([
          400,
          'validation_failed',
        ]);
      }
    });
  });

  it('counts usage requests instead, by caller and hour', async () => {
    const before = (await entries()).length;
    const customer = await createCustomer('user');
    await call('post', '/v1/usage-events').send({
      idempotency_key: 'e1',
      customer_id: customer,
      event_name: 'call',
      timestamp: engine.clock.now().toISOString(),
    });
    await engine.app.get(AuditUsageCounts).write();
    const { body } = await call('get', '/v1/audit-log/usage-counts');
    expect((body as { data: object[] }).data).toEqual([
      {
        actor: { type: 'key', id: keyId },
        operation: 'reportUsage',
        hour: expect.stringMatching(/:00:00\.000Z$/) as string,
        request_count: 1,
      },
    ]);
    expect(await entries()).toHaveLength(before + 1);
  });

  it.each([
    'x',
    '2026-99-99T99:00:00.000Z a b',
    '2026-02-30T00:00:00.000Z a b',
    '0000-01-01T00:00:00.000Z a b',
    '2026-01-01T00:00:00.000Z a b\0',
  ])('refuses %j as a cursor of the counts', async (text) => {
    const cursor = Buffer.from(text).toString('base64url');
    const { body } = await call('get', `/v1/audit-log/usage-counts?cursor=${cursor}`);
    expect(body).toMatchObject({ status: 400, code: 'invalid_cursor' });
  });

  describe('of usage that is still being stored', () => {
    const serials = ['a', 'b', 'c', 'd', 'e', 'f'][Symbol.iterator]();

    /** Returns a usage event with a key of its own, as JSON text. */
    const usage = (customer: string): string =>
      JSON.stringify({
        idempotency_key: `waiting-${serials.next().value}`,
        customer_id: customer,
        event_name: 'call',
        timestamp: engine.clock.now().toISOString(),
      });

    /** Sends requests over one connection, without waiting for their answers. */
    async function send(to: TestApp, type: string, bodies: readonly string[]): Promise<Socket> {
      const socket = connect({ port: Number(new URL(await to.app.getUrl()).port) });
      await once(socket, 'connect');
      const requests = bodies.map(
        (body) =>
          `POST /v1/usage-events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${BOOTSTRAP}\r\n` +
          `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      socket.write(requests.join(''));
      return socket;
    }

    const holdUsage = () =>
      openTransaction(engine.database, () =>
        engine.database.query('LOCK TABLE usage_event IN SHARE MODE'),
      );

    const stored = async (): Promise<number> =>
      (await engine.database.query('SELECT FROM usage_event')).length;

    const counted = async (): Promise<number> =>
      Number(await engine.database.queryValue('SELECT sum(request_count) FROM audit_usage_count'));

    it.each([
      ['an event', 'application/json'],
      ['NDJSON', 'application/x-ndjson'],
    ])('counts %s although the client disconnects before the answer', async (_, type) => {
      const customer = await createCustomer('disconnected');
      const before = [await stored(), await counted()];
      const commit = await holdUsage();
      try {
        const socket = await send(engine, type, [usage(customer)]);
        await untilSessionsWait(engine.database);
        const closed = once(socket, 'close');
        socket.destroy();
        await closed;
      } finally {
        await commit();
      }
      await until('it is stored and counted', async () => {
        await engine.app.get(AuditUsageCounts).write();
        const now = [await stored(), await counted()];
        return now.every((count, index) => count === (before[index] ?? 0) + 1);
      });
    });

    it('counts consumption with and without an idempotency key, and repeated', async () => {
      const customer = await createCustomer('consuming');
      await call('post', '/v1/entitlements').send({ key: 'calls', name: 'Calls', type: 'metered' });
      const path = `/v1/customers/${customer}/entitlements/calls`;
      await call('post', `${path}/grants`).send({ value: '10' });
      const before = await counted();
      for (const key of [null, 'consumed-once', 'consumed-once']) {
        const body = { quantity: '1', idempotency_key: `consumption ${String(key)}` };
        const request = call('post', `${path}/consume`).send(body);
        await (key === null ? request : request.set('Idempotency-Key', key)).expect(200);
      }
      await engine.app.get(AuditUsageCounts).write();
      expect(await counted()).toBe(before + 3);
    });

    it('counts a request once if the answer to the write of its count is lost', async () => {
      const body = JSON.parse(usage(await createCustomer('lost'))) as object;
      const before = await counted();
      const counts = engine.app.get(AuditUsageCounts);
      const query = engine.database.query.bind(engine.database);
      const write = jest.spyOn(engine.database, 'query').mockImplementation(async (...sent) => {
        const rows = await query(...sent);
        if (!sent[0].includes('INTO audit_usage_count')) return rows;
        throw new OutcomeUnknownError(new Error('Connection terminated unexpectedly'));
      });
      await call('post', '/v1/usage-events').send(body).expect(200);
      await counts.write();
      write.mockRestore();
      await counts.write();
      expect(await counted()).toBe(before + 1);
    });

    it('counts requests that are answered while the service stops', async () => {
      const environment = { AUTH: 'required', BOOTSTRAP_API_KEY: BOOTSTRAP };
      const stopping = await startTestApp({ environment, databaseUrl: engine.databaseUrl });
      const customer = await createCustomer('stopping');
      const before = await counted();
      const commit = await holdUsage();
      const socket = await send(stopping, 'application/json', [usage(customer)]);
      const answer = once(socket, 'data');
      await untilSessionsWait(engine.database);
      const closed = stopping.close();
      const server = stopping.app.getHttpServer();
      await until('it no longer listens', () => !server.listening);
      await commit();
      expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 200 /);
      await closed;
      expect(await counted()).toBe(before + 1);
    });
  });

  it('refuses updates, deletes and truncation in the database', async () => {
    for (const table of ['audit_log', 'audit_change', 'audit_seal']) {
      await sealAll(engine);
      const { database } = engine;
      await expect(database.query(`UPDATE ${table} SET created_at = now()`)).rejects.toThrow(
        /append-only/,
      );
      await expect(database.query(`DELETE FROM ${table}`)).rejects.toThrow(/append-only/);
      await expect(database.query(`TRUNCATE ${table}`)).rejects.toThrow(/append-only/);
    }
    const partitions = await engine.database.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relispartition AND relname ~ '^audit_(log|change)_[0-9d]'
         AND relkind = 'r'`,
    );
    expect(partitions.length).toBeGreaterThanOrEqual(8);
    for (const { name } of partitions) {
      await expect(engine.database.query(`TRUNCATE ${name}`)).rejects.toThrow(/append-only/);
    }
  });

  async function oldestUnsealedSeconds(): Promise<string | undefined> {
    const { text } = await engine.uncheckedHttp
      .get('/metrics')
      .set('Authorization', `Bearer ${BOOTSTRAP}`)
      .expect(200);
    return /^audit_oldest_unsealed_seconds (.*)$/m.exec(text)?.[1];
  }

  it('is sealed, but not before open transactions have ended', async () => {
    await sealAll(engine);
    const before = await verify();
    expect(before).toMatchObject({ ok: true, faults: [], empty_entries: [], unsealed_changes: 0 });
    const commit = await openTransaction(engine.database, () =>
      engine.database.query('SELECT pg_current_xact_id()'),
    );
    await createCustomer('late');
    await runSealing(engine);
    expect(await verify()).toMatchObject({ ok: true, unsealed_changes: 1 });
    engine.clock.advanceMs(90_000);
    expect(await oldestUnsealedSeconds()).toBe('90');
    await commit();
    await sealAll(engine);
    const after = await verify();
    expect(after).toMatchObject({ ok: true, unsealed_changes: 0 });
    expect(after.sealed_changes).toBe(before.sealed_changes + 1);
    expect(after.seal_count).toBe(before.seal_count + 1);
    expect(await oldestUnsealedSeconds()).toBe('0');
  });

  it('is not sealed before its own transaction has ended, also if that is the newest of the server', async () => {
    await sealAll(engine);
    const commit = await openTransaction(engine.database, () =>
      engine.app
        .get(AuditTrail)
        .record({ action: 'thing.made', objectId: 'thing_newest', fields: { size: 1 } }),
    );
    try {
      await runSealing(engine);
    } finally {
      await commit();
    }
    expect(await verify()).toMatchObject({ ok: true, faults: [], unsealed_changes: 1 });
    await sealAll(engine);
    expect(await verify()).toMatchObject({ ok: true, faults: [], unsealed_changes: 0 });
  });

  it.each([
    [
      'a changed value',
      `UPDATE audit_change SET changes = '{}' WHERE position = 1`,
      'content_changed',
    ],
    [
      'another actor',
      `UPDATE audit_log SET actor_id = 'key_x' WHERE id = (SELECT min(id) FROM audit_log)`,
      'content_changed',
    ],
    [
      'a removed entry',
      `DELETE FROM audit_log WHERE id = (SELECT min(id) FROM audit_log)`,
      'content_changed',
    ],
    ['a removed change', 'DELETE FROM audit_change WHERE position = 1', 'changes_missing'],
    [
      'an added change',
      `INSERT INTO audit_change SELECT entry_id, 1, created_at + interval '1 ms', action, 'x', changes FROM audit_change WHERE position = 2`,
      'changes_added',
    ],
    [
      'a change below the first position',
      `ALTER TABLE audit_change DROP CONSTRAINT audit_change_position_check;
       INSERT INTO audit_change SELECT entry_id, 0, created_at, action, 'x', changes FROM audit_change WHERE position = 2`,
      'changes_added',
    ],
    ['a removed seal', 'DELETE FROM audit_seal WHERE number = 1', 'chain_broken'],
    [
      'a changed seal',
      `UPDATE audit_seal SET hash = repeat('0', 64) WHERE number = 1`,
      'content_changed',
    ],
  ])('reveals %s', async (_, sql, fault) => {
    await createCustomer('sealed');
    await sealAll(engine);
    await createCustomer('sealed too');
    await sealAll(engine);
    expect((await verify()).ok).toBe(true);
    const saved = await engine.database.query<{ log: object; changes: object; seals: object }>(
      `SELECT (SELECT json_agg(t) FROM audit_log t) AS log,
        (SELECT json_agg(t) FROM audit_change t) AS changes,
        (SELECT json_agg(t) FROM audit_seal t) AS seals`,
    );
    try {
      await tamper(sql);
      const { ok, faults } = await verify();
      expect(ok).toBe(false);
      expect(faults[0]).toMatchObject({ fault });
    } finally {
      await restore(saved[0]);
    }
    expect((await verify()).ok).toBe(true);
  });

  /** Puts back what a test has tampered with. */
  async function restore(
    saved: Readonly<Record<'log' | 'changes' | 'seals', object>> | undefined,
  ): Promise<void> {
    await engine.database.transaction(async () => {
      await engine.database.query('SET LOCAL session_replication_role = replica');
      for (const [table, rows] of [
        ['audit_log', saved?.log],
        ['audit_change', saved?.changes],
        ['audit_seal', saved?.seals],
      ] as const) {
        await engine.database.query(`DELETE FROM ${table}`);
        await engine.database.query(
          `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json)`,
          [JSON.stringify(rows)],
        );
      }
    });
  }

  it('reveals an entry that was added without a change', async () => {
    await tamper(
      `INSERT INTO audit_log (id, created_at, actor_type, actor_id) VALUES ('aud_x', now(), 'key', 'x')`,
    );
    expect(await verify()).toMatchObject({ ok: false, empty_entries: ['aud_x'] });
    await tamper(`DELETE FROM audit_log WHERE id = 'aud_x'`);
  });
});
