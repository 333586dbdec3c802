import { Client } from 'pg';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { dataSourceOptions, MigrationLockError } from '../../src/platform/database';
import { runMigrations } from '../../src/platform/database/run-migrations';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { until } from '../support/until';

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

  async function pending(migration: new () => MigrationInterface): Promise<void> {
    dataSource = await new DataSource({
      ...dataSourceOptions(database.url, 2),
      migrations: [migration],
    }).initialize();
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
    );

    let longestMs = 0;
    await until('the second attempt', async () => {
      const startedAt = performance.now();
      await reader.query('SELECT count(*) FROM coupon');
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      return blockedBy.length === 2;
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
    const failure = await runMigrations(dataSource, () => undefined, 500).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(MigrationLockError);
    expect((failure as Error).message).toContain(`pg_terminate_backend(${rows[0]?.pid ?? ''})`);
    expect(await isThere('created_before_the_lock')).toBe(false);
  });

  it('without a transaction waits for long transactions, while others read and write', async () => {
    await pending(IndexCoupons9000000000002);
    await holder.query('BEGIN');
    await holder.query('UPDATE coupon SET name = name');
    const blockedBy: string[] = [];
    const run = runMigrations(dataSource, (_, session) => blockedBy.push(session), 60_000);
    await until('the migration waits', () => blockedBy.length === 1);
    await reader.query('UPDATE coupon SET name = name');
    await holder.query('COMMIT');
    expect(await run).toEqual(['IndexCoupons9000000000002']);
    expect(await isThere('coupon_tried_index')).toBe(true);
  });
});
