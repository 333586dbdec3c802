import { AuditLogRepository } from '../../src/modules/audit/audit-log.repository';
import { SealsRepository } from '../../src/modules/audit/seals.repository';
import { Partitions } from '../../src/platform/database';
import { startTestApp, type TestApp } from '../support/test-app';

const CHANGES = 60_000;
const FIRST_PAGE = 500;
const MONTHS = 24;

interface Line {
  readonly position: string;
  readonly change: { readonly object_id: string };
}

/** Writes a change for each entry, during two years: of `key_often`, and the first and last of `key_rare`. */
const FILL = `
  WITH made AS (
    SELECT nextval('audit_change_position') AS position, n,
      $1::timestamptz(3) + n * interval '17 min' AS created_at
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
    for (const table of ['audit_log', 'audit_change']) {
      await engine.app.get(Partitions).createMonths(table, engine.clock.now(), MONTHS);
    }
    await engine.database.query(FILL, [engine.clock.now()]);
    await engine.database.query('ANALYZE audit_log, audit_change');
  });

  afterAll(() => engine.close());

  async function lines(query: string): Promise<readonly Line[]> {
    const { text } = await engine.http.get(`/v1/audit-log/export?${query}`).buffer(true);
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  }

  async function exported(query: string): Promise<readonly string[]> {
    return (await lines(query)).map(({ change }) => change.object_id);
  }

  it('contains the changes of an actor with few of them', async () => {
    expect(await exported('actor_id=key_rare')).toEqual(['thing_1', `thing_${CHANGES}`]);
  });

  it('contains each change of an actor with many of them once', async () => {
    const things = await exported('actor_id=key_often');
    expect([things.length, new Set(things).size]).toEqual([CHANGES - 2, CHANGES - 2]);
  });

  /** Returns how many rows of the audit log `read` reads. */
  function rowsReadBy(read: () => Promise<unknown>): Promise<number> {
    const rows = `
      SELECT sum(seq_tup_read + idx_tup_fetch)::integer FROM pg_stat_xact_user_tables
      WHERE relname LIKE 'audit_log%' OR relname LIKE 'audit_change%'`;
    return engine.database.transaction(async () => {
      const before = (await engine.database.queryValue<number>(rows)) ?? 0;
      await read();
      return ((await engine.database.queryValue<number>(rows)) ?? 0) - before;
    });
  }

  const ALL = { actorId: null, operation: null, objectId: null, from: null, to: null };

  it('reads about as many rows as it contains', async () => {
    const log = engine.app.get(AuditLogRepository);
    const read = await rowsReadBy(() =>
      log.changesWithin({ after: 10n, to: BigInt(CHANGES) }, ALL, FIRST_PAGE),
    );
    expect(read).toBeLessThan(4 * FIRST_PAGE);
  });

  it('reads only the entries of an actor with few of them', async () => {
    const log = engine.app.get(AuditLogRepository);
    const filter = { ...ALL, actorId: 'key_rare' };
    const read = await rowsReadBy(async () => {
      const positions = (await log.findPositions(filter, 1_000)) ?? [];
      expect(await log.changesAt(positions, filter)).toHaveLength(2);
    });
    expect(read).toBeLessThan(100);
  });

  it('is continued after the last line of an actor with few changes', async () => {
    const [first] = await lines('actor_id=key_rare');
    const rest = await exported(`actor_id=key_rare&after=${first?.position}`);
    expect(rest).toEqual([`thing_${CHANGES}`]);
    expect(await exported('actor_id=key_rare&object_id=thing_1')).toEqual(['thing_1']);
  });

  it('does not search all entries of an actor if it is continued near the end', async () => {
    const search = jest.spyOn(engine.app.get(AuditLogRepository), 'findPositions');
    expect(await exported(`actor_id=key_often&after=${CHANGES - 10}`)).toHaveLength(9);
    expect(search).not.toHaveBeenCalled();
    search.mockRestore();
  });

  it('is sealed by reading about as many rows as a seal covers', async () => {
    const seals = engine.app.get(SealsRepository);
    const read = await rowsReadBy(() => seals.hashChanges(1_000n, 2_000n));
    expect(read).toBeLessThan(4_000);
  });
});
