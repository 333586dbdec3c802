import { AsyncResource } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { AuditPartitions } from '../../src/modules/audit/audit-partitions';
import { AuditRetention } from '../../src/modules/audit/audit-retention';
import { dataSourceOptions, migrate } from '../../src/platform/database';
import { sealAll } from '../support/audit-seals';
import { createTestDatabase } from '../support/databases';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, type TestApp } from '../support/test-app';

interface Verification {
  readonly ok: boolean;
  readonly seal_count: number;
  readonly sealed_changes: number;
  readonly faults: readonly { readonly fault: string }[];
  readonly dropped_months: readonly object[];
  readonly dropped_months_match: boolean;
}

describe('the retention of the audit log', () => {
  let engine: TestApp;

  beforeEach(async () => {
    engine = await startTestApp({
      environment: { AUDIT_RETENTION_MONTHS: '3', LOG_LEVEL: 'silent' },
    });
    engine.clock.set('2026-01-10T00:00:00Z');
    await engine.app.get(AuditPartitions).runDue();
  });

  afterEach(() => engine.close());

  async function change(at: string, count = 1): Promise<void> {
    engine.clock.set(at);
    for (let made = 0; made < count; made += 1) {
      await engine.http.post('/v1/customers').send({ name: 'Ada' }).expect(201);
    }
  }

  async function dropAll(at: string): Promise<number> {
    engine.clock.set(at);
    let dropped = 0;
    while (await engine.app.get(AuditRetention).runDue()) dropped += 1;
    return dropped;
  }

  async function verify(): Promise<Verification> {
    const { body } = await engine.http.get('/v1/audit-log/verify').expect(200);
    return body as Verification;
  }

  async function entries(): Promise<readonly { readonly created_at: string }[]> {
    const { body } = await engine.http.get('/v1/audit-log?limit=100').expect(200);
    return (body as { data: readonly { readonly created_at: string }[] }).data;
  }

  /** Changes rows as somebody with access to the database could. */
  async function tamper(sql: string): Promise<void> {
    await engine.database.transaction(async () => {
      await engine.database.query('SET LOCAL session_replication_role = replica');
      await engine.database.query(sql);
    });
  }

  /** January alone, January with February, and February with March have a seal each. */
  async function threeMonths(): Promise<void> {
    await change('2026-01-20T00:00:00Z', 3);
    await sealAll(engine);
    await change('2026-01-31T23:59:59Z', 2);
    await change('2026-02-01T00:00:00Z', 2);
    await sealAll(engine);
    await change('2026-02-10T00:00:00Z', 2);
    await change('2026-03-02T00:00:00Z', 2);
    await sealAll(engine);
  }

  it('drops whole months; verification still covers the rest, and lists the dropped months', async () => {
    await threeMonths();
    expect(await dropAll('2026-04-30T23:59:59Z')).toBe(0);
    expect(await dropAll('2026-05-01T00:00:00Z')).toBe(1);
    await sealAll(engine);
    const first = await verify();
    expect(first).toMatchObject({
      ok: true,
      seal_count: 4,
      sealed_changes: 12,
      faults: [],
      dropped_months: [{ month: '2026-01', entry_count: 5, change_count: 5, through_seal: '1' }],
    });
    expect(await dropAll('2026-06-01T00:00:00Z')).toBe(1);
    await sealAll(engine);
    expect(await verify()).toMatchObject({
      ok: true,
      seal_count: 5,
      sealed_changes: 13,
      dropped_months: [
        { month: '2026-01', through_seal: '1' },
        { month: '2026-02', entry_count: 4, change_count: 4, through_seal: '2' },
      ],
    });
    const left = await entries();
    expect(left.map(({ created_at: at }) => at.slice(0, 7))).toEqual([
      '2026-06',
      '2026-05',
      '2026-03',
      '2026-03',
    ]);
    expect(left[0]).toMatchObject({
      actor: { type: 'worker' },
      changes: [{ action: 'audit_log.dropped', object_id: '2026_02' }],
    });
    const exported = await engine.http.get('/v1/audit-log/export').buffer(true);
    expect(exported.text.trim().split('\n')).toHaveLength(4);
  });

  /**
   * Starts reads outside of the transaction that drops a month, and drops the month while the reads wait for the seals.
   * Returns whether the month was dropped, and the result of the reads.
   */
  async function dropDuring<Result>(reads: () => Promise<Result>): Promise<[boolean, Result]> {
    const start = AsyncResource.bind(reads);
    const observer = new Client({ connectionString: engine.databaseUrl });
    await observer.connect();
    const query = async (sql: string) => (await observer.query<object>(sql)).rows;
    let result: Promise<Result> | undefined;
    let dropped = false;
    try {
      await engine.database.transaction(async () => {
        await engine.database.query('LOCK TABLE audit_seal');
        result = start();
        await untilSessionsWait({ query });
        dropped = await engine.app.get(AuditRetention).runDue();
      });
    } catch (error) {
      // A drop that waits too long for its lock fails, and the transaction of this test with it.
      expect(error).toMatchObject({ message: expect.stringContaining('Nothing was committed') });
    } finally {
      await observer.end();
    }
    if (result === undefined) throw new Error('The reads were not started.');
    return [dropped, await result];
  }

  it('drops no month during a verification, which would then miss its changes', async () => {
    await threeMonths();
    engine.clock.set('2026-05-01T00:00:00Z');
    expect(await dropDuring(verify)).toMatchObject([false, { ok: true, dropped_months: [] }]);
    expect(await dropAll('2026-05-01T00:00:00Z')).toBe(1);
    expect(await verify()).toMatchObject({ ok: true, dropped_months: [{ month: '2026-01' }] });
  });

  it('logs no fault of a month that another process drops at the same time', async () => {
    await threeMonths();
    engine.clock.set('2026-05-01T00:00:00Z');
    const log = jest.spyOn(Logger.prototype, 'error');
    const results = await dropDuring(() => engine.app.get(AuditRetention).runDue());
    const errors = log.mock.calls;
    log.mockRestore();
    expect({ results, errors }).toEqual({ results: [true, false], errors: [] });
  });

  it.each([
    [
      'a change that shares a seal with dropped ones',
      `UPDATE audit_change SET object_id = 'cus_x' WHERE position = 6`,
    ],
    ['a removed one', 'DELETE FROM audit_change WHERE position = 7'],
    ['a removed hash of a dropped change', 'DELETE FROM audit_dropped_change WHERE position = 4'],
    [
      'a change replaced by its hash',
      `WITH gone AS (DELETE FROM audit_change WHERE position = 9 RETURNING position)
       INSERT INTO audit_dropped_change SELECT position, '\\x00' FROM gone`,
    ],
    ['a removed record of the drop', 'DELETE FROM audit_drop'],
    [
      'another end of what was dropped',
      `UPDATE audit_drop SET through_seal = 3, through_position = (SELECT to_position FROM audit_seal WHERE number = 3)`,
    ],
    ['a removed seal of dropped changes', 'DELETE FROM audit_seal WHERE number = 1'],
    ['another number of dropped entries', 'UPDATE audit_drop SET entry_count = entry_count + 1'],
    ['another number of dropped changes', 'UPDATE audit_drop SET change_count = change_count - 1'],
    [
      'a record of a drop that never was',
      `INSERT INTO audit_drop SELECT '2025_12', 0, 0, through_seal, through_position, kept_digest, dropped_at FROM audit_drop`,
    ],
  ])('reveals %s', async (_, sql) => {
    await threeMonths();
    expect(await dropAll('2026-05-01T00:00:00Z')).toBe(1);
    expect((await verify()).ok).toBe(true);
    await tamper(sql);
    expect((await verify()).ok).toBe(false);
  });

  it.each([
    ['a removed record', `DELETE FROM audit_drop WHERE month = '2026_01'`],
    ['other numbers', `UPDATE audit_drop SET entry_count = 6 WHERE month = '2026_01'`],
  ])('reveals %s of an earlier drop', async (_, sql) => {
    await threeMonths();
    expect(await dropAll('2026-06-01T00:00:00Z')).toBe(2);
    expect((await verify()).ok).toBe(true);
    await tamper(sql);
    expect(await verify()).toMatchObject({ ok: false, dropped_months_match: false });
  });

  it('matches its records after entries of earlier drops were dropped', async () => {
    await threeMonths();
    expect(await dropAll('2026-05-01T00:00:00Z')).toBe(1);
    await engine.app.get(AuditPartitions).runDue();
    expect(await dropAll('2026-07-01T00:00:00Z')).toBe(2);
    await sealAll(engine);
    expect(await dropAll('2026-09-01T00:00:00Z')).toBeGreaterThan(0);
    expect(await verify()).toMatchObject({ ok: true, dropped_months_match: true });
    const rows = `SELECT object_id FROM audit_change WHERE action = 'audit_log.dropped'`;
    expect(await engine.database.queryValues(rows)).not.toContain('2026_01');
  });

  /** Creates the partitions that a process creates which starts with this clock. */
  async function startAt(now: string): Promise<void> {
    engine.clock.set(now);
    await engine.app.get(AuditPartitions).runDue();
  }

  it('goes on after a process started with its clock in a dropped month', async () => {
    await threeMonths();
    expect(await dropAll('2026-05-01T00:00:00Z')).toBe(1);
    await startAt('2026-01-05T00:00:00Z');
    await sealAll(engine);
    expect(await dropAll('2026-06-01T00:00:00Z')).toBe(2);
    await sealAll(engine);
    expect(await verify()).toMatchObject({
      ok: true,
      dropped_months: [{ month: '2026-01' }, { month: '2026-02' }],
    });
  });

  it.each(['2026-01-05T00:00:00Z', '2020-01-05T00:00:00Z'])(
    'drops the entries of a process whose clock was at %s, and then matches its records',
    async (past) => {
      await threeMonths();
      expect(await dropAll('2026-05-01T00:00:00Z')).toBe(1);
      await startAt(past);
      await change(past);
      engine.clock.set('2026-05-01T00:00:00Z');
      await sealAll(engine);
      expect(await verify()).toMatchObject({ ok: true, dropped_months: [{ month: '2026-01' }] });
      expect(await dropAll('2026-05-01T00:00:00Z')).toBeGreaterThan(0);
      await sealAll(engine);
      const { ok, dropped_months: months } = await verify();
      expect({ ok, second: months[1] }).toMatchObject({
        ok: true,
        second: { month: past.slice(0, 7), entry_count: 1, change_count: 1 },
      });
      expect(await dropAll('2026-06-01T00:00:00Z')).toBeGreaterThan(0);
      expect((await verify()).ok).toBe(true);
      await tamper(`DELETE FROM audit_drop WHERE number = 2`);
      expect(await verify()).toMatchObject({ ok: false, dropped_months_match: false });
    },
  );

  it.each([
    ['among dropped changes', 2, '1'],
    ['in a later month, among dropped changes', 3, '1'],
    ['below the first position', 0, '1'],
  ])('reveals an entry that was added %s, and drops nothing then', async (_, position, seal) => {
    await threeMonths();
    expect(await dropAll('2026-05-01T00:00:00Z')).toBe(1);
    await sealAll(engine);
    expect((await verify()).ok).toBe(true);
    const at = position === 3 ? '2026-02-11T00:00:00Z' : '2026-01-20T00:00:00Z';
    await engine.database.query(
      'ALTER TABLE audit_change DROP CONSTRAINT audit_change_position_check',
    );
    await engine.database.query(
      `WITH entry AS (
         INSERT INTO audit_log (id, created_at, actor_type, actor_id) VALUES ('aud_x', $1, 'key', 'x') RETURNING *)
       INSERT INTO audit_change (entry_id, position, created_at, action, object_id, changes)
       SELECT id, $2, created_at, 'customer.deleted', 'cus_x', '{}' FROM entry`,
      [at, position],
    );
    expect(await verify()).toMatchObject({
      ok: false,
      faults: [{ fault: 'changes_added', seal }],
    });
    expect(await dropAll('2026-06-01T00:00:00Z')).toBe(0);
  });

  it('keeps a month that does not match its seals, or is not sealed yet', async () => {
    await change('2026-01-20T00:00:00Z', 2);
    expect(await dropAll('2026-05-01T00:00:00Z')).toBe(0);
    await sealAll(engine);
    await tamper(`UPDATE audit_change SET object_id = 'cus_x' WHERE position = 1`);
    expect(await dropAll('2026-05-01T00:00:00Z')).toBe(0);
    expect((await verify()).faults).toHaveLength(1);
    expect(await entries()).toHaveLength(2);
  });

  it('is tried again later while somebody reads the log', async () => {
    await threeMonths();
    const reader = new Client({ connectionString: engine.databaseUrl });
    await reader.connect();
    try {
      await reader.query('BEGIN');
      await reader.query('SELECT FROM audit_log LIMIT 1');
      expect(await dropAll('2026-05-01T00:00:00Z')).toBe(0);
    } finally {
      await reader.end();
    }
    expect((await verify()).dropped_months).toEqual([]);
    expect(await dropAll('2026-05-01T00:00:00Z')).toBe(1);
  });

  it('drops a month once when two processes do it, and months without entries too', async () => {
    await threeMonths();
    engine.clock.set('2026-06-01T00:00:00Z');
    const retention = engine.app.get(AuditRetention);
    await Promise.all([retention.runDue(), retention.runDue()]);
    await dropAll('2026-07-01T00:00:00Z');
    const { ok, dropped_months: months } = await verify();
    expect([ok, months.length]).toEqual([true, 3]);
    await expect(engine.database.query('DELETE FROM audit_drop')).rejects.toThrow(/append-only/);
  });
});

it('has partitions before a process without due work writes the first entry', async () => {
  const engine = await startTestApp({ environment: { ROLE: 'api' } });
  try {
    await engine.http.post('/v1/customers').send({ name: 'Ada' }).expect(201);
    const rows = await engine.database.query(
      'SELECT DISTINCT tableoid::regclass::text AS name FROM audit_log',
    );
    expect(rows).toEqual([{ name: 'audit_log_2026_03' }]);
  } finally {
    await engine.close();
  }
});

it('numbers drops of earlier releases in their order, and the next ones after them', async () => {
  const database = await createTestDatabase();
  const dataSource = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
  const insert = (month: string, at: string) =>
    dataSource.query(
      `INSERT INTO audit_drop (month, entry_count, change_count, through_seal, through_position, kept_digest, dropped_at)
       VALUES ($1, 0, 0, 1, 5, repeat('0', 64), $2)`,
      [month, at],
    );
  const hasNumbers = `SELECT FROM migration WHERE name = 'NumberDropsOfAuditMonths1796300331700'`;
  try {
    while ((await dataSource.query<object[]>(hasNumbers)).length > 0) {
      await dataSource.undoLastMigration();
    }
    await insert('2020_01', '2026-05-02T00:00:00Z');
    await insert('2026_02', '2026-05-01T00:00:00Z');
    await insert('2026_01', '2026-05-01T00:00:00Z');
    await migrate(database.url);
    await insert('2026_01', '2026-05-03T00:00:00Z');
    const rows = await dataSource.query<{ number: string; month: string }[]>(
      'SELECT number, month FROM audit_drop ORDER BY number',
    );
    expect(rows.map(({ number, month }) => `${number}: ${month}`)).toEqual([
      '1: 2026_01',
      '2: 2026_02',
      '3: 2020_01',
      '4: 2026_01',
    ]);
    await expect(dataSource.query('DELETE FROM audit_drop')).rejects.toThrow(/append-only/);
  } finally {
    await dataSource.destroy();
    await database.drop();
  }
});
