import { AuditPartitions } from '../../src/modules/audit/audit-partitions';
import { DatabaseProxy } from '../support/database-proxy';
import { startTestApp, type TestApp } from '../support/test-app';
import { withoutTriggers } from '../support/without-triggers';

const STATEMENT_TIMEOUT_MS = 1_000;
const ENVIRONMENT = { DATABASE_STATEMENT_TIMEOUT_MS: String(STATEMENT_TIMEOUT_MS) };

describe('the verification of the audit log', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  it('is answered although a statement takes longer than those of other requests may', async () => {
    const proxy = await DatabaseProxy.before(engine.databaseUrl);
    const slow = await startTestApp({ databaseUrl: proxy.url, environment: ENVIRONMENT });
    try {
      let delays = 0;
      proxy.inject((statement) => {
        if (delays > 0 || !statement.includes('SELECT id FROM audit_log AS entry')) return null;
        delays += 1;
        // The service waits for the answer twice as long as a statement may take.
        return { kind: 'delay', delayMs: 2.5 * STATEMENT_TIMEOUT_MS };
      });
      expect((await slow.http.get('/v1/audit-log/verify')).status).toBe(200);
      expect(delays).toBe(1);
    } finally {
      await slow.close();
      await proxy.close();
    }
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
