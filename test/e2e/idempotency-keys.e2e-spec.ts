import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { allProblems } from '../../src/platform/errors';
import { createCustomer } from '../support/billing';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

interface Operation {
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}

/** Operations that move money or start a contract. */
const MOVING_MONEY = [
  '/v1/credit-notes',
  '/v1/credit-notes/{id}/void',
  '/v1/invoices/{id}/pay',
  '/v1/invoices/{id}/reissue',
  '/v1/payments',
  '/v1/refunds/payment/{paymentId}',
  '/v1/subscriptions',
  '/v1/subscriptions/{id}/cancel',
  '/v1/subscriptions/{id}/change',
  '/v1/subscriptions/{id}/coupons',
  '/v1/subscriptions/{id}/pause',
  '/v1/subscriptions/{id}/resume',
  '/v1/subscriptions/{id}/uncancel',
];

const NEEDS_KEY = { status: 400, body: { code: 'idempotency_key_required' } };

describe('a service with IDEMPOTENCY_KEYS=required', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { IDEMPOTENCY_KEYS: 'required' } });
  });

  afterAll(() => engine.close());

  it('refuses requests without a key exactly where the document requires one', async () => {
    const { body } = await engine.uncheckedHttp.get('/openapi.json');
    const { paths, components } = body as {
      paths: Record<string, { post?: Operation }>;
      components: { responses: Record<string, object> };
    };
    const requiring = Object.entries(components.responses)
      .filter(([, response]) => JSON.stringify(response).includes('idempotency_key_required'))
      .map(([name]) => `#/components/responses/${name}`);
    const documented = Object.entries(paths).filter(([, { post }]) =>
      requiring.includes(post?.responses['400']?.$ref ?? ''),
    );
    expect(documented.map(([path]) => path).sort()).toEqual(expect.arrayContaining(MOVING_MONEY));
    for (const [path] of documented) {
      const url = path.replace(/\{\w+\}/, 'no_such_id');
      expect(await engine.http.post(url).send({})).toMatchObject(NEEDS_KEY);
      const keyed = await engine.http.post(url).set('Idempotency-Key', `key of ${path}`).send({});
      expect(keyed.body).not.toMatchObject(NEEDS_KEY.body);
    }
    const others = Object.entries(paths).filter(
      ([path, { post }]) => post !== undefined && !documented.some(([other]) => other === path),
    );
    for (const [path] of others) {
      const url = path.replaceAll(/\{\w+\}/g, 'no_such_id');
      expect((await engine.http.post(url).send({})).body).not.toMatchObject(NEEDS_KEY.body);
    }
  });

  it('accepts the key of a refund in its body', async () => {
    const url = '/v1/refunds/payment/pay_01kq3m5x6zf0a8v7s9w2b4c6d8';
    expect(await engine.http.post(url).send({})).toMatchObject(NEEDS_KEY);
    expect(await engine.http.post(url).send({ idempotencyKey: null })).toMatchObject(NEEDS_KEY);
    const keyed = await engine.http.post(url).send({ idempotencyKey: 'refund-1' });
    expect(keyed).toMatchObject({ status: 404, body: { code: 'payment_not_found' } });
  });

  it('accepts all other requests without a key', async () => {
    await engine.http.post('/v1/customers').send({ name: 'Ada Lovelace' }).expect(201);
  });
});

describe('a service with default settings', () => {
  it('accepts payments without a key', async () => {
    const engine = await startTestApp();
    const customer = await engine.http.post('/v1/customers').send({ name: 'Ada Lovelace' });
    const { id } = customer.body as { id: string };
    await engine.http
      .post('/v1/payments')
      .send({ customer_id: id, amount: 1000, currency: 'USD' })
      .expect(201);
    await engine.close();
  });
});

/** Kinds of errors that are stored for the idempotency key of their request. */
const STORED_KINDS: readonly string[] = ['not_found', 'conflict', 'rule_broken'];

describe('a refusal', () => {
  it('that only asks to wait and send the same request again is declared as temporary, so that it is not stored', async () => {
    // Loads the errors of all modules.
    await (await startTestApp()).close();
    const stored = allProblems().filter(({ kind }) => STORED_KINDS.includes(kind));
    const codesOf = (problems: typeof stored) => problems.map(({ code }) => code);
    const asksToWait = /\b(try again|wait until|again after|repeat the request)\b/i;
    const waiting = codesOf(stored.filter(({ meaning }) => asksToWait.test(meaning)));
    expect(codesOf(stored.filter(({ isTemporary }) => isTemporary))).toEqual(waiting);
    expect(waiting).toEqual(expect.arrayContaining(['meter_backfilling', 'subscription_behind']));
    // The console repeats such a request with its key, until the outcome of all attempts is known.
    const console = await readFile(
      join(__dirname, '../../studio/src/api/idempotency-keys.ts'),
      'utf8',
    );
    const [, listed = ''] = /NOT_STORED: readonly string\[\] = \[([^\]]*)\]/.exec(console) ?? [];
    const known = Array.from(listed.matchAll(/'(\w+)'/g), ([, code]) => code);
    expect([...known, 'idempotency_key_in_use'].sort()).toEqual([...waiting].sort());
  });

  it('is stored only after a running request with the same key has ended', async () => {
    const engine = await startTestApp();
    const clients = [0, 1].map(() => new Client({ connectionString: engine.databaseUrl }));
    const [row, key] = clients as [Client, Client];
    for (const client of clients) await client.connect();
    const waiting = (count: number) => untilSessionsWait(engine.database, count);
    try {
      const customer = await createCustomer(engine);
      const lines = [{ description: 'Work', amount: 1_000 }];
      const draft = { customer_id: customer, currency: 'USD', lines };
      const { body } = await engine.http.post('/v1/invoices').send(draft).expect(201);
      const path = `/v1/invoices/${(body as { id: string }).id}`;
      await engine.http.post(`${path}/finalize`).expect(200);
      await engine.http.post(`${path}/void`).expect(200);
      await row.query('BEGIN');
      await row.query('SELECT FROM customer WHERE id = $1 FOR UPDATE', [customer]);
      let isAnswered = false;
      const refused = engine.http
        .post(`${path}/void`)
        .set('Idempotency-Key', 'same')
        .then((answer) => {
          isAnswered = true;
          return answer;
        });
      await waiting(1);
      const [lock] = await engine.database.query<{ high: string; low: string }>(
        `SELECT classid AS high, objid AS low FROM pg_locks
         WHERE locktype = 'advisory' AND granted AND pid IN (
           SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`,
      );
      const taken = key.query('SELECT pg_advisory_lock(($1::bigint << 32) | $2::bigint)', [
        lock?.high,
        lock?.low,
      ]);
      await waiting(2);
      await row.query('ROLLBACK');
      await taken;
      // The refusal looks for the other request's answer once it finds its key taken.
      await until('the refusal finds its key taken', async () => {
        const looked = await engine.database.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
             AND query LIKE '%answer_body%FROM idempotency_key WHERE key%'`,
        );
        return isAnswered || looked.length > 0;
      });
      await key.query('SELECT pg_advisory_unlock_all()');
      expect((await refused).body).toMatchObject({ code: 'invalid_transition' });
    } finally {
      for (const client of clients) await client.end();
      await engine.close();
    }
  });
});
