import { AuditSealing } from '../../src/modules/audit/audit-sealing';
import { AuditTrail } from '../../src/platform/audit';
import { sealAll, runSealing } from '../support/audit-seals';
import { openTransaction } from '../support/open-transaction';
import { startTestApp, type TestApp } from '../support/test-app';
import { withoutTriggers } from '../support/without-triggers';

/** A standby that took over lacks the last commits, but its transaction numbers are as high as those of the primary. */
describe('after a standby without the last changes took over', () => {
  let first: TestApp;
  /** A process for which the database can show another start of its server. */
  let engine: TestApp;

  beforeEach(async () => {
    first = await startTestApp();
    const database = new URL(first.databaseUrl).pathname.slice(1);
    await first.database.query(`ALTER DATABASE ${database} SET search_path = public, pg_catalog`);
    engine = await startTestApp({ databaseUrl: first.databaseUrl });
    await engine.database.transaction(() => change('thing_0'));
    await sealAll(engine);
  });

  afterEach(async () => {
    await engine.close();
    await first.close();
  });

  const change = (objectId: string) =>
    engine.app.get(AuditTrail).record({ action: 'thing.made', objectId, fields: { size: 1 } });

  /** Makes changes, lets the job note that they can be sealed soon, and loses them. */
  async function loseChanges(): Promise<void> {
    const { database } = engine;
    const last = await database.queryValue<string>('SELECT last_value FROM audit_change_position');
    for (const id of ['thing_1', 'thing_2', 'thing_3']) {
      await database.transaction(() => change(id));
    }
    await engine.app.get(AuditSealing).runDue();
    await withoutTriggers(engine, [
      `DELETE FROM audit_log WHERE id IN (SELECT entry_id FROM audit_change WHERE position > ${last})`,
      `DELETE FROM audit_change WHERE position > ${last}`,
      `SELECT setval('audit_change_position', ${last})`,
    ]);
  }

  async function expectSealed(): Promise<void> {
    await sealAll(engine);
    const { body } = await engine.http.get('/v1/audit-log/verify').expect(200);
    expect(body).toMatchObject({ ok: true, faults: [], unsealed_changes: 0 });
  }

  it('positions of lost changes are not sealed before other changes have them', async () => {
    await loseChanges();
    await runSealing(engine);
    await engine.database.transaction(() => change('thing_4'));
    await expectSealed();
  });

  it('a change is not sealed before its own transaction has ended', async () => {
    await loseChanges();
    await engine.database.query(`
      CREATE FUNCTION public.pg_postmaster_start_time() RETURNS timestamptz
      LANGUAGE sql AS 'SELECT pg_catalog.pg_postmaster_start_time() + interval ''1 hour'''`);
    const commit = await openTransaction(engine.database, async () => {
      for (const id of ['thing_4', 'thing_5', 'thing_6']) await change(id);
    });
    try {
      await runSealing(engine);
    } finally {
      await commit();
    }
    await expectSealed();
  });
});
