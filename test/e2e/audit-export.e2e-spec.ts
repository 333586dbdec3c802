import { AuditLogRepository } from '../../src/modules/audit/audit-log.repository';
import { startTestApp, type TestApp } from '../support/test-app';

const CHANGES = 60_000;
const FIRST_PAGE = 500;

/** Writes a change for each entry: of `key_often`, and the first and last of `key_rare`. */
const FILL = `
  WITH made AS (
    SELECT nextval('audit_change_position') AS position, n,
      $1::timestamptz(3) + n * interval '1 ms' AS created_at
    FROM generate_series(1, ${CHANGES}) AS n),
  entry AS (
    INSERT INTO audit_log (id, created_at, actor_type, actor_id)
    SELECT 'aud_' || n, created_at, 'key',
      CASE WHEN n IN (1, ${CHANGES}) THEN 'key_rare' ELSE 'key_often' END FROM made)
  INSERT INTO audit_change (entry_id, position, created_at, action, object_id, changes)
  SELECT 'aud_' || n, position, created_at, 'thing.made', 'thing_' || n, '{}' FROM made`;

describe('an export of a large audit log', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
    await engine.database.query(FILL, [engine.clock.now()]);
    await engine.database.query('ANALYZE audit_log, audit_change');
  });

  afterAll(() => engine.close());

  async function exported(query: string): Promise<readonly string[]> {
    const { text } = await engine.http.get(`/v1/audit-log/export?${query}`).buffer(true);
    return text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { change: { object_id: string } }).change.object_id);
  }

  it('contains the changes of an actor with few of them', async () => {
    expect(await exported('actor_id=key_rare')).toEqual(['thing_1', `thing_${CHANGES}`]);
  });

  it('contains each change of an actor with many of them once', async () => {
    const things = await exported('actor_id=key_often');
    expect([things.length, new Set(things).size]).toEqual([CHANGES - 2, CHANGES - 2]);
  });

  it('reads about as many rows as it contains', async () => {
    const rowsRead = `
      SELECT sum(seq_tup_read + idx_tup_fetch)::integer FROM pg_stat_xact_user_tables
      WHERE relname LIKE 'audit_log%'`;
    const log = engine.app.get(AuditLogRepository);
    const filter = { actorId: null, operation: null, objectId: null, from: null, to: null };
    const read = await engine.database.transaction(async () => {
      const before = (await engine.database.queryValue<number>(rowsRead)) ?? 0;
      await log.changesWithin({ after: 10n, to: BigInt(CHANGES) }, filter, FIRST_PAGE);
      return ((await engine.database.queryValue<number>(rowsRead)) ?? 0) - before;
    });
    expect(read).toBeLessThan(2 * FIRST_PAGE);
  });
});
