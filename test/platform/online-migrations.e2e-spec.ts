import { Client } from 'pg';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { MigrationLockError, openConnection } from '../../src/platform/database';
import { lockMigrations } from '../../src/platform/database/migration-lock';
import { migrationOptions, runMigrations } from '../../src/platform/database/run-migrations';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { until } from '../support/until';

/** The session that holds the migration lock does not end. */
const STAYS_LOCKED = new AbortController().signal;

/** Needs a lock that excludes readers, and changes something before. */
class ChangeCoupons9000000000001 implements MigrationInterface {
  readonly name = 'ChangeCoupons9000000000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE TABLE "created_before_the_lock" ("id" integer)');
    await queryRunner.query('ALTER TABLE "coupon" ADD "tried" integer');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

class IndexCoupons9000000000002 implements MigrationInterface {
  readonly name = 'IndexCoupons9000000000002';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS "coupon_tried_index"');
    await queryRunner.query('CREATE INDEX CONCURRENTLY "coupon_tried_index" ON "coupon" ("name")');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

/** Adds a row each time it runs. */
class FillCoupons9000000000003 implements MigrationInterface {
  readonly name = 'FillCoupons9000000000003';
  static beforeEnd: () => Promise<void> = () => Promise.resolve();

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('INSERT INTO "filled" VALUES (1)');
    await FillCoupons9000000000003.beforeEnd();
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

/** Changes something that stays, and then does not get a lock. */
class CheckCoupons9000000000004 implements MigrationInterface {
  readonly name = 'CheckCoupons9000000000004';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('SET lock_timeout = 100');
    await queryRunner.query('CREATE TABLE IF NOT EXISTS "created_before_the_lock" ("id" integer)');
    await queryRunner.query('ALTER TABLE "coupon" ADD "tried" integer');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

/** Makes a table again, in two steps outside of a transaction. */
class RemakeTable9000000000005 implements MigrationInterface {
  readonly name = 'RemakeTable9000000000005';
  readonly transaction = false;
  static betweenSteps: () => Promise<void> = () => Promise.resolve();

  async up(queryRunner: QueryRunner): Promise<void> {
    await RemakeTable9000000000005.betweenSteps();
    await queryRunner.query('DROP TABLE IF EXISTS "remade"');
    await queryRunner.query('CREATE TABLE "remade" ("id" integer)');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

describe('a migration beside running processes', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let holder: Client;
  let reader: Client;

  beforeEach(async () => {
    database = await createTestDatabase();
    holder = await connect('a long report');
    reader = await connect('a request');
  });

  afterEach(async () => {
    await dataSource.destroy();
    await holder.end();
    await reader.end();
    await database.drop();
  });

  async function connect(name: string): Promise<Client> {
    const client = new Client({ connectionString: database.url, application_name: name });
    await client.connect();
    return client;
  }

  async function pending(migration: new () => MigrationInterface, poolSize = 2): Promise<void> {
    dataSource = await new DataSource({
      ...migrationOptions(`${database.url}?application_name=shop`, poolSize),
      migrations: [migration],
    }).initialize();
  }

  /** Takes the migration lock, runs the pending migrations, and returns their names. */
  async function migrateUnderLock(): Promise<readonly string[]> {
    const guard = await openConnection(database.url);
    const next = await new DataSource(dataSource.options).initialize();
    try {
      const lost = await lockMigrations(guard, () => undefined, 60_000);
      return await runMigrations(next, () => undefined, 60_000, lost);
    } finally {
      await next.destroy();
      await guard.end();
    }
  }

  async function isThere(relation: string): Promise<boolean> {
    const { rows } = await reader.query<{ found: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS found',
      [relation],
    );
    return rows[0]?.found === true;
  }

  it('gives up its place behind a long transaction and tries again, so that others wait for at most a second', async () => {
    await pending(ChangeCoupons9000000000001);
    await holder.query('BEGIN');
    await holder.query('SELECT count(*) FROM coupon');
    const blockedBy: string[] = [];
    const run = runMigrations(
      dataSource,
      (migration, session) => blockedBy.push(`${migration}: ${session}`),
      60_000,
      STAYS_LOCKED,
    );

    let longestMs = 0;
    await until('the second attempt', async () => {
      // Measured by the server, because a busy machine may send or receive late.
      const { rows } = await reader.query<{ ms: number }>(
        `SELECT count(*), extract(epoch FROM clock_timestamp() - statement_timestamp())::float8 * 1000 AS ms FROM coupon`,
      );
      longestMs = Math.max(longestMs, rows[0]?.ms ?? Infinity);
      return blockedBy.length >= 2;
    });
    expect(await isThere('created_before_the_lock')).toBe(false);
    await holder.query('COMMIT');

    expect(await run).toEqual(['ChangeCoupons9000000000001']);
    expect(blockedBy[0]).toMatch(/^ChangeCoupons9000000000001: .*application a long report/);
    expect(longestMs).toBeLessThan(2_500);
    expect(await isThere('created_before_the_lock')).toBe(true);
  });

  it('ends with an error that names the session, and applies nothing, when the lock is never free', async () => {
    await pending(ChangeCoupons9000000000001);
    await holder.query('BEGIN');
    await holder.query('SELECT count(*) FROM coupon');
    const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const failure = await runMigrations(dataSource, () => undefined, 2_000, STAYS_LOCKED).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(MigrationLockError);
    expect((failure as Error).message).toContain(`pg_terminate_backend(${rows[0]?.pid ?? ''})`);
    expect((failure as Error).message).toContain('Nothing of it was applied.');
    expect(await isThere('created_before_the_lock')).toBe(false);
  });

  it('without a transaction waits for long transactions, while others read and write', async () => {
    await pending(IndexCoupons9000000000002);
    await holder.query('BEGIN');
    await holder.query('UPDATE coupon SET name = name');
    const blockedBy: string[] = [];
    const run = runMigrations(
      dataSource,
      (_, session) => blockedBy.push(session),
      60_000,
      STAYS_LOCKED,
    );
    await until('the migration waits', () => blockedBy.length > 0);
    await reader.query('UPDATE coupon SET name = name');
    await holder.query('COMMIT');
    expect(await run).toEqual(['IndexCoupons9000000000002']);
    expect(await isThere('coupon_tried_index')).toBe(true);
  });

  it('without a transaction says that a part of it may be applied, when the lock is never free', async () => {
    await pending(CheckCoupons9000000000004);
    await holder.query('BEGIN');
    await holder.query('SELECT count(*) FROM coupon');
    const failure = await runMigrations(dataSource, () => undefined, 0, STAYS_LOCKED).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(MigrationLockError);
    expect((failure as Error).message).toContain('What it has done stays');
    expect((failure as Error).message).not.toContain('Nothing of it was applied');
    expect(await isThere('created_before_the_lock')).toBe(true);
  });

  it('is applied once, even if another process runs it at the same time', async () => {
    await pending(FillCoupons9000000000003);
    await reader.query('CREATE TABLE filled (id integer)');
    const second = await new DataSource(dataSource.options).initialize();
    let proceed: () => void = () => undefined;
    const mayEnd = new Promise<void>((resolve) => (proceed = resolve));
    try {
      let reached = 0;
      FillCoupons9000000000003.beforeEnd = () => {
        reached += 1;
        return mayEnd;
      };
      const first = runMigrations(dataSource, () => undefined, 60_000, STAYS_LOCKED);
      await until('the first process has done its work', () => reached === 1);
      const blockedBy: string[] = [];
      const other = runMigrations(
        second,
        (migration) => blockedBy.push(migration),
        60_000,
        STAYS_LOCKED,
      );
      await until('the other process waits', () => blockedBy.length > 0);
      proceed();
      expect(await first).toEqual(['FillCoupons9000000000003']);
      expect(await other).toEqual([]);
      const { rows } = await reader.query(`
        SELECT (SELECT count(*)::int FROM filled) AS filled, count(*)::int AS records
        FROM migration WHERE name = 'FillCoupons9000000000003'`);
      expect(rows).toEqual([{ filled: 1, records: 1 }]);
    } finally {
      proceed();
      await second.destroy();
    }
  });

  it('of a suspended process does not go on after another process has migrated', async () => {
    await pending(RemakeTable9000000000005);
    let resume: () => void = () => undefined;
    const resumed = new Promise<void>((resolve) => (resume = resolve));
    let isSuspended = false;
    RemakeTable9000000000005.betweenSteps = () => {
      isSuspended = true;
      return resumed;
    };
    // A suspended process does not notice that it has lost the lock.
    const suspended = runMigrations(dataSource, () => undefined, 60_000, STAYS_LOCKED).catch(
      (error: unknown) => error,
    );
    await until('the first process is suspended', () => isSuspended);
    RemakeTable9000000000005.betweenSteps = () => Promise.resolve();
    // A second session of the process, such as the one that finds who blocks a migration. The server ends it, too.
    const shown = await dataSource.query<unknown>('SHOW idle_session_timeout');
    expect(shown).toEqual([{ idle_session_timeout: '45s' }]);
    try {
      expect(await migrateUnderLock()).toEqual(['RemakeTable9000000000005']);
      await reader.query('INSERT INTO remade VALUES (1)');
    } finally {
      resume();
    }
    expect(await suspended).toBeInstanceOf(Error);
    expect((await reader.query('SELECT id FROM remade')).rows).toEqual([{ id: 1 }]);
  });

  it('without a transaction stops when its process loses the migration lock, and the next start completes it', async () => {
    await pending(IndexCoupons9000000000002);
    await holder.query('BEGIN');
    await holder.query('UPDATE coupon SET name = name');
    const lost = new AbortController();
    const blockedBy: string[] = [];
    const run = runMigrations(
      dataSource,
      (_, session) => blockedBy.push(session),
      60_000,
      lost.signal,
    ).catch((error: unknown) => error);
    await until('the migration waits', () => blockedBy.length > 0);
    lost.abort(new MigrationLockError('lost'));
    expect(await run).toBe(lost.signal.reason);
    const next = migrateUnderLock();
    await holder.query('COMMIT');
    expect(await next).toEqual(['IndexCoupons9000000000002']);
    expect(await isThere('coupon_tried_index')).toBe(true);
  });

  it('stops when its process loses the migration lock, also if no other connection can be opened', async () => {
    await pending(RemakeTable9000000000005, 1);
    await reader.query('CREATE TABLE remade (id integer)');
    await reader.query('INSERT INTO remade VALUES (1)');
    const lost = new AbortController();
    RemakeTable9000000000005.betweenSteps = () => {
      lost.abort(new MigrationLockError('lost'));
      return Promise.resolve();
    };
    const run = runMigrations(dataSource, () => undefined, 60_000, lost.signal);
    expect(await run.catch((error: unknown) => error)).toBe(lost.signal.reason);
    expect((await reader.query('SELECT id FROM remade')).rows).toEqual([{ id: 1 }]);
  });
});
