import { Client } from 'pg';
import { AuditPartitions } from '../../src/modules/audit/audit-partitions';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';
import { withoutTriggers } from '../support/without-triggers';

const STATEMENT_TIMEOUT_MS = 1_000;

describe('the verification of the audit log', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({
      environment: { DATABASE_STATEMENT_TIMEOUT_MS: String(STATEMENT_TIMEOUT_MS) },
    });
  });

  afterAll(() => engine.close());

  it('is answered although a statement takes longer than those of other requests may', async () => {
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE audit_seal IN ACCESS EXCLUSIVE MODE');
    const verified = engine.http.get('/v1/audit-log/verify').then(({ status }) => status);
    await untilSessionsWait(engine.database);
    const waitsSince = performance.now();
    await until(
      'the limit has passed',
      () => performance.now() > waitsSince + 1.5 * STATEMENT_TIMEOUT_MS,
    );
    await holder.end();
    expect(await verified).toBe(200);
  });

  it('finds entries without a change in months with and without a partition', async () => {
    engine.clock.set('2026-01-10T00:00:00Z');
    await engine.app.get(AuditPartitions).runDue();
    const times = ['1999-12-31T23:59:59Z', '2026-01-31T23:59:59.999Z', '2026-02-01', '2099-01-01'];
    await withoutTriggers(engine, [
      ...times.map(
        (at, index) => `INSERT INTO audit_log (id, created_at, actor_type, actor_id)
          VALUES ('aud_${index}', '${at}', 'system', 'system')`,
      ),
    ]);
    const { body } = await engine.http.get('/v1/audit-log/verify').expect(200);
    expect(body).toMatchObject({
      ok: false,
      empty_entries: ['aud_0', 'aud_1', 'aud_2', 'aud_3'],
    });
  });
});
