import { Client } from 'pg';
import { DataSource } from 'typeorm';
import {
  dataSourceOptions,
  ENTITIES,
  migrate,
  MigrationLockError,
  openConnection,
  PoolerError,
  SchemaError,
} from '../../src/platform/database';
import { lockMigrations } from '../../src/platform/database/migration-lock';
import { catalogueOf, isBeyondEntities } from '../support/catalogue';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { TransactionPooler } from '../support/transaction-pooler';
import { startTestApp } from '../support/test-app';
import { until } from '../support/until';

describe('migrations', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await createTestDatabase('empty');
    dataSource = await connect(database.url);
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  function connect(url: string): Promise<DataSource> {
    return new DataSource({ ...dataSourceOptions(url, 2), entities: [ENTITIES] }).initialize();
  }

  /** Returns the changes that the schema builder would make to match the entities. */
  async function drift(): Promise<readonly string[]> {
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    return upQueries.map(({ query }) => query);
  }

  /** Describes a database created from the entities alone. */
  async function catalogueOfEntities(): Promise<readonly string[]> {
    const made = await createTestDatabase('empty');
    const source = await connect(made.url);
    try {
      // Entities can name the operators of an exclusion, but not the extension that provides them.
      await source.query('CREATE EXTENSION btree_gist');
      await source.synchronize();
      return (await catalogueOf(made.url)).filter((line) => !isBeyondEntities(line));
    } finally {
      await source.destroy();
      await made.drop();
    }
  }

  async function migrationsRun(): Promise<readonly string[]> {
    const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM migration');
    return rows.map(({ name }) => name).sort();
  }

  function allMigrations(): readonly string[] {
    return dataSource.migrations.map(({ name }) => name ?? '').sort();
  }

  it('leave nothing for the schema builder to do', async () => {
    expect([...(await migrate(database.url))].sort()).toEqual(allMigrations());
    expect(await drift()).toEqual([]);
    expect(await migrate(database.url)).toEqual([]);
  });

  it('have unique timestamps', () => {
    const times = allMigrations().map((name) => name.slice(-13));
    expect(new Set(times).size).toBe(times.length);
  });

  it('create exactly what the entities define: every column, constraint and index', async () => {
    await migrate(database.url);
    const migrated = (await catalogueOf(database.url)).filter((line) => !isBeyondEntities(line));
    expect(migrated).toEqual(await catalogueOfEntities());
  });

  it.each([
    ['coupon.leftover', 'ALTER TABLE coupon ADD COLUMN leftover integer'],
    ['coupon_type_check', 'ALTER TABLE coupon DROP CONSTRAINT coupon_type_check'],
    ['event_undispatched_index', 'DROP INDEX event_undispatched_index'],
  ])('are compared in a way that detects: %s', async (name, change) => {
    await migrate(database.url);
    const before = await catalogueOf(database.url);
    await dataSource.query(change);
    const after = await catalogueOf(database.url);
    const differences = [
      ...before.filter((line) => !after.includes(line)),
      ...after.filter((line) => !before.includes(line)),
    ];
    expect(differences).toEqual([expect.stringContaining(name)]);
    expect((await drift()).join('\n')).toContain(name.split('.').at(-1));
  });

  it('can all be reverted, and run again', async () => {
    await migrate(database.url);
    const migrated = await catalogueOf(database.url);
    for (let left = allMigrations().length; left > 0; left -= 1) {
      await dataSource.undoLastMigration();
    }
    expect(await migrationsRun()).toEqual([]);
    expect(await catalogueOf(database.url)).toEqual([]);
    await migrate(database.url);
    expect(await migrationsRun()).toEqual(allMigrations());
    expect(await catalogueOf(database.url)).toEqual(migrated);
  });

  it('run once each when several processes start together on an empty database', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => migrate(database.url)));
    expect(runs.flat().sort()).toEqual(allMigrations());
    expect(await migrationsRun()).toEqual(allMigrations());
  });

  it('of a newer version prevent the start of an older one', async () => {
    await migrate(database.url);
    await dataSource.query(
      `INSERT INTO migration (timestamp, name) VALUES (9999999999999, 'AddTomorrow9999999999999')`,
    );
    const refusal = await migrate(database.url).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SchemaError);
    expect(String(refusal)).toContain('AddTomorrow9999999999999');
  });

  it('report who holds their lock, and stop the start after a time limit', async () => {
    const other = new Client({ connectionString: database.url, application_name: 'old release' });
    await other.connect();
    try {
      await other.query('SELECT pg_advisory_lock(7205759403)');
      const holders: string[] = [];
      const failure = await migrate(database.url, (holder) => holders.push(holder), 300).catch(
        (error: unknown) => error,
      );
      const { rows } = await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const pid = rows[0]?.pid ?? 0;
      expect(holders).toHaveLength(1);
      expect(holders[0]).toMatch(new RegExp(`session ${pid} .*application old release`));
      expect(failure).toBeInstanceOf(MigrationLockError);
      expect((failure as Error).message).toContain(`pg_terminate_backend(${pid})`);
    } finally {
      await other.end();
    }
    expect((await migrate(database.url)).length).toBeGreaterThan(0);
  });

  it('stop when the session that holds their lock ends, and continue at the next start', async () => {
    const other = new Client({ connectionString: database.url });
    await other.connect();
    try {
      // The first migration that creates an extension waits in its transaction while the table has a row.
      await other.query('CREATE SCHEMA gate');
      await other.query('CREATE TABLE gate.closed AS SELECT true AS is_closed');
      await other.query(`CREATE FUNCTION gate.wait() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN WHILE EXISTS (SELECT FROM gate.closed) LOOP PERFORM pg_sleep(0.05); END LOOP; END $$`);
      await other.query(`CREATE EVENT TRIGGER gate ON ddl_command_end WHEN TAG IN ('CREATE EXTENSION')
        EXECUTE FUNCTION gate.wait()`);
      const ended = migrate(database.url).catch((error: unknown) => error);
      const sessions = async (name: string): Promise<number> => {
        const { rowCount } = await other.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`,
          [name],
        );
        return rowCount ?? 0;
      };
      const inGate = `SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND application_name = 'billing-engine migration' AND wait_event = 'PgSleep'`;
      await until('a migration waits', async () => (await other.query(inGate)).rowCount === 1);
      await other.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'billing-engine migration lock'`);
      const failure = await ended;
      expect(failure).toBeInstanceOf(MigrationLockError);
      expect((failure as Error).message).toContain('the migration was stopped');
      await until(
        'its session has ended',
        async () => !(await sessions('billing-engine migration')),
      );
      await other.query('DELETE FROM gate.closed');
    } finally {
      await other.end();
    }
    await migrate(database.url);
    expect(await migrationsRun()).toEqual(allMigrations());
  });

  it('lose their lock within a minute when their process is suspended', async () => {
    const holder = await openConnection(database.url);
    try {
      await lockMigrations(holder, () => undefined, 0);
      const { rows } = await holder.query('SHOW idle_in_transaction_session_timeout');
      expect(rows).toEqual([{ idle_in_transaction_session_timeout: '45s' }]);
    } finally {
      await holder.end();
    }
  });

  it('keep their lock for longer than its session may be idle, without a snapshot', async () => {
    const holder = await openConnection(database.url);
    try {
      const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await holder.query('SET idle_in_transaction_session_timeout = 2000');
      const lost = await lockMigrations(holder, () => undefined, 0, 100);
      const snapshots: unknown[] = [];
      await until('the transaction is twice as old', async () => {
        const [state] = await dataSource.query<{ snapshot: unknown; is_old: boolean }[]>(
          `SELECT backend_xmin AS snapshot, clock_timestamp() - xact_start > '4 s' AS is_old
           FROM pg_stat_activity WHERE pid = $1 AND state = 'idle in transaction'`,
          [rows[0]?.pid],
        );
        if (state !== undefined) snapshots.push(state.snapshot);
        return lost.aborted || state?.is_old === true;
      });
      expect(lost.aborted).toBe(false);
      expect(new Set(snapshots)).toEqual(new Set([null]));
    } finally {
      await holder.end();
    }
  });

  it('leave no lock on any connection', async () => {
    await migrate(database.url);
    const other = new Client({ connectionString: database.url });
    await other.connect();
    const { rows } = await other.query<{ free: boolean }>(
      'SELECT pg_try_advisory_lock(7205759403) AS free',
    );
    await other.end();
    expect(rows).toEqual([{ free: true }]);
  });

  it('are refused behind a pooler that shares sessions, and leave nothing there', async () => {
    const pooler = await TransactionPooler.before(database.url);
    try {
      await expect(migrate(pooler.url)).rejects.toThrow(PoolerError);
      await expect(migrate(pooler.url)).rejects.toThrow(/pool_mode = session/);
    } finally {
      await pooler.close();
    }
    expect((await migrate(database.url)).length).toBeGreaterThan(0);
  });

  it('are refused behind a pooler without changing settings of its other clients', async () => {
    const pooler = await TransactionPooler.before(database.url, true);
    const clients = [1, 2].map(() => new Client({ connectionString: pooler.url }));
    const both = (sql: string) => Promise.all(clients.map((client) => client.query(sql)));
    try {
      await Promise.all(clients.map((client) => client.connect()));
      await both('BEGIN');
      await both('COMMIT');
      await expect(migrate(pooler.url)).rejects.toThrow(PoolerError);
      const answers = await both('SHOW lock_timeout');
      expect(answers.flatMap(({ rows }) => rows as unknown[])).toEqual(
        clients.map(() => ({ lock_timeout: '0' })),
      );
    } finally {
      for (const client of clients) void client.end();
      await pooler.close();
    }
  });

  it('are awaited while another process runs them, with a log line', async () => {
    const other = new Client({ connectionString: database.url });
    await other.connect();
    await other.query('SELECT pg_advisory_lock(7205759403)');
    const ran = await new Promise<readonly string[]>((resolve, reject) => {
      migrate(database.url, () => void other.end()).then(resolve, reject);
    });
    expect([...ran].sort()).toEqual(allMigrations());
  });

  it('are compared with every entity of the application, and no other', async () => {
    await migrate(database.url);
    const engine = await startTestApp({ databaseUrl: database.url });
    try {
      const tablesOf = (source: DataSource): readonly string[] =>
        source.entityMetadatas.map(({ tableName }) => tableName).sort();
      expect(tablesOf(engine.app.get(DataSource))).toEqual(tablesOf(dataSource));
    } finally {
      await engine.close();
    }
  });
});

describe('sessions of a former migration', () => {
  const user = `migrating_${process.pid}`;
  const group = `${user}_group`;
  let database: TestDatabase;
  let admin: Client;
  let guard: Client;
  let former: Client;
  let pid: number | undefined;

  beforeEach(async () => {
    database = await createTestDatabase('empty');
    admin = await openConnection(database.url);
    await admin.query(`CREATE ROLE ${group}`);
    await admin.query(`CREATE ROLE ${user} LOGIN PASSWORD 'change-me' IN ROLE ${group}`);
  });

  afterEach(async () => {
    await guard.end();
    await former.end();
    await admin.query(`DROP ROLE ${user}, ${group}`);
    await admin.end();
    await database.drop();
  });

  /** Opens a connection for the lock, and one of a former migration. */
  async function connect(isOwn: boolean): Promise<void> {
    const own = new URL(database.url);
    own.username = user;
    own.password = 'change-me';
    guard = await openConnection(own.toString());
    former = await openConnection(isOwn ? own.toString() : database.url);
    await former.query(`SET application_name = 'billing-engine migration'`);
    const { rows } = await former.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    pid = rows[0]?.pid;
  }

  it('of the user that logs in are ended, even if its role has fewer rights', async () => {
    await admin.query(`ALTER ROLE ${user} SET role = ${group}`);
    await connect(true);
    await lockMigrations(guard, () => undefined, 60_000);
    await expect(former.query('SELECT')).rejects.toThrow();
  });

  it.each([
    ['any other user', 'SELECT'],
    ['a superuser whose rights the user has', `GRANT %I TO ${user}`],
  ])('of %s are waited for', async (_, grant) => {
    const { rows } = await admin.query<{ sql: string }>('SELECT format($1, current_user) AS sql', [
      grant,
    ]);
    await admin.query(rows[0]?.sql ?? '');
    await connect(false);
    const failure = await lockMigrations(guard, () => undefined, 0).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(MigrationLockError);
    expect((failure as Error).message).toMatch(
      new RegExp(`earlier migration has not ended: .* session ${pid} .*application billing`),
    );

    await guard.query('ROLLBACK');
    const sessions: string[] = [];
    const locking = lockMigrations(guard, (session) => sessions.push(session), 60_000);
    await until('the lock waits', () => sessions.length > 0);
    await former.end();
    expect((await locking).aborted).toBe(false);
    expect(sessions).toEqual([expect.stringContaining(`session ${pid} `)]);
  });
});
