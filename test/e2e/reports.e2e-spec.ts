import { Client } from 'pg';
import { Reports } from '../../src/platform/database';
import { createCustomer, createMeter } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';

const POOL_SIZE = 2;

describe('reports', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: { DATABASE_POOL_SIZE: String(POOL_SIZE) } });
  });

  afterAll(async () => {
    await engine.close();
  });

  /** Starts work that ends when the returned function is called. */
  async function hold(
    count: number,
    start: (work: () => Promise<void>) => Promise<unknown>,
    waitFor = count,
  ): Promise<() => Promise<void>> {
    let end = (): void => undefined;
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begun = 0;
    let haveBegun = (): void => undefined;
    const allBegun = new Promise<void>((resolve) => {
      haveBegun = resolve;
    });
    const held = Array.from({ length: count }, () =>
      start(() => {
        begun += 1;
        if (begun === waitFor) haveBegun();
        return isOver;
      }),
    );
    await allBegun;
    return async () => {
      end();
      await Promise.all(held);
    };
  }

  const holdAllConnections = () =>
    hold(POOL_SIZE, (work) =>
      engine.database.transaction(async () => {
        await engine.database.query('SELECT 1');
        await work();
      }),
    );

  it('and the readiness probe are answered while requests use all other connections', async () => {
    const release = await holdAllConnections();
    try {
      expect((await engine.http.get('/health/ready')).status).toBe(200);
      const verified = await engine.http.get('/v1/ledger/verify');
      expect(verified.status).toBe(200);
      expect(verified.body).toMatchObject({ ok: true });
    } finally {
      await release();
    }
  });

  it('do not use the connections of requests, and are refused when too many wait', async () => {
    const reports = engine.app.get(Reports);
    const release = await hold(5, (work) => reports.run('verification', work), 1);
    try {
      const refused = await engine.http.get('/v1/ledger/verify');
      expect(refused.status).toBe(429);
      expect(refused.body).toMatchObject({ code: 'too_many_reports' });
      expect(refused.headers['retry-after']).toBe('5');
      await createCustomer(engine);
      expect((await engine.http.get('/health/ready')).status).toBe(200);
    } finally {
      await release();
    }
    expect((await engine.http.get('/v1/ledger/verify')).status).toBe(200);
  });

  it('are refused when too many wait, unless their period is refused anyway', async () => {
    const reports = engine.app.get(Reports);
    const release = await hold(18, (work) => reports.run('analytics', work), 2);
    try {
      const mrr = 'analytics/mrr?interval=day';
      const revenue = 'analytics/revenue?interval=day&group_by=plan';
      const totals = `meters/${await createMeter(engine)}/totals?window=hour`;
      for (const [path, from, code] of [
        [mrr, '2025-01-01', 'too_many_reports'],
        [mrr, '2026-01-01', 'report_period_empty'],
        [mrr, '1990-01-01', 'too_many_windows'],
        [revenue, '2025-12-01', 'too_many_reports'],
        [revenue, '2026-01-01', 'report_period_empty'],
        [revenue, '2025-01-01', 'too_many_windows'],
        [totals, '2025-12-01', 'too_many_reports'],
        [totals, '2026-01-01', 'usage_period_empty'],
        [totals, '2025-01-01', 'too_many_windows'],
      ] as const) {
        const period = `from=${from}T00:00:00Z&to=2026-01-01T00:00:00Z`;
        const { body } = await engine.http.get(`/v1/${path}&${period}`);
        expect([path, from, body]).toMatchObject([path, from, { code }]);
      }
    } finally {
      await release();
    }
  });

  it('read the usage of a customer if the windows cut many hours, but not for some days of a half-hour zone', async () => {
    const reports = engine.app.get(Reports);
    const customer = await createCustomer(engine, { timezone: 'Asia/Kolkata' });
    const usage = `/v1/meters/${await createMeter(engine)}/usage?customer_id=${customer}`;
    const month = `${usage}&from=2025-12-01T00:00:00Z&to=2026-01-01T00:00:00Z`;
    const byCutHours = `${month}&window=hour`;
    const release = await hold(18, (work) => reports.run('analytics', work), 2);
    try {
      const refused = await engine.http.get(byCutHours);
      expect(refused.body).toMatchObject({ code: 'too_many_reports' });
      for (const query of [month, `${month}&window=day`, `${byCutHours}&time_zone=UTC`])
        expect((await engine.http.get(query)).status).toBe(200);
    } finally {
      await release();
    }
    expect((await engine.http.get(byCutHours)).status).toBe(200);
  });

  it('of one kind do not use the slots of another', async () => {
    const reports = engine.app.get(Reports);
    const release = await hold(5, (work) => reports.run('verification', work), 1);
    try {
      const read = () => engine.database.query<{ one: number }>('SELECT 1 AS one');
      expect(await reports.run('proof', read)).toEqual([{ one: 1 }]);
    } finally {
      await release();
    }
  });

  it('write nothing', async () => {
    const write = () => engine.database.query('DELETE FROM customer');
    await expect(engine.app.get(Reports).run('proof', write)).rejects.toThrow('read-only');
  });

  it('have a time limit for a readiness probe without an answer', async () => {
    const other = new Client({ connectionString: engine.databaseUrl });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('LOCK TABLE migration IN EXCLUSIVE MODE');
      expect((await engine.http.get('/health/ready')).status).toBe(503);
      await other.query('ROLLBACK');
      expect((await engine.http.get('/health/ready')).status).toBe(200);
    } finally {
      await other.end();
    }
  });

  it('list at most 100 violations of the ledger', async () => {
    await engine.database.query(`
      INSERT INTO customer (id, name, timezone, tax_exempt, metadata, version, created_at, updated_at)
      SELECT 'cus_' || lpad(place::text, 26, '0'), 'Many', 'UTC', 'none', '{}', 1, now(), now()
      FROM generate_series(1, 300) AS place`);
    await engine.database.query(`
      WITH posted AS (
        INSERT INTO ledger_transaction (id, kind, source_id, customer_id, currency, occurred_at)
        SELECT 'ltx_' || lpad(place::text, 26, '0'), 'invoice_finalized', 'inv_' || lpad(place::text, 26, '0'),
          'cus_' || lpad(place::text, 26, '0'), 'USD', now()
        FROM generate_series(1, 300) AS place RETURNING id
      )
      INSERT INTO ledger_posting (transaction_id, position, account, amount_minor)
      SELECT id, position, account, amount FROM posted
      CROSS JOIN (VALUES (1, 'accounts_receivable', 7), (2, 'revenue', -7)) AS side (position, account, amount)`);
    const verified = await engine.http.get('/v1/ledger/verify');
    const { ok, checks } = verified.body as {
      ok: boolean;
      checks: { name: string; ok: boolean; offending: string[] }[];
    };
    expect(ok).toBe(false);
    const check = checks.find(({ name }) => name === 'receivables_equal_open_invoices');
    expect(check?.offending).toHaveLength(100);
    expect(check?.offending[0]).toBe(`cus_${'1'.padStart(26, '0')} USD: stored 0, ledger 7`);
    expect(checks.flatMap((one) => (one.ok ? [] : [[one.name, one.offending.length]]))).toEqual([
      ['receivables_equal_open_invoices', 100],
      ['revenue_equals_invoices_less_credit_notes', 100],
    ]);
  });
});
