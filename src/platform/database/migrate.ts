import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { CONNECT_TIMEOUT_MS, dataSourceOptions } from './data-source-options';

/** Any number: all processes of the engine must use the same one. */
const MIGRATION_LOCK = 7_205_759_403;

/** The database is not one that this version can work on. */
export class SchemaError extends Error {}

/**
 * Brings the database to the newest schema and returns the names of the migrations it ran. TypeORM takes no lock of its
 * own, so two processes that start at once would run the same migration twice; the second waits here for the first.
 * @param onWait called when another process migrates, and this one waits for it
 * @throws {SchemaError} when a newer version has migrated the database: what this one writes might be wrong there
 */
export async function migrate(
  url: string,
  onWait: () => void = () => undefined,
): Promise<readonly string[]> {
  const guard = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // What it waits for fails with the connection; an error that nobody hears would end the process without its reason.
  guard.on('error', () => undefined);
  await guard.connect();
  try {
    await takeTurn(guard, onWait);
    const dataSource = new DataSource({ ...dataSourceOptions(url, 2), extra: {} });
    await dataSource.initialize();
    try {
      await refuseNewer(dataSource);
      const ran = await dataSource.runMigrations();
      return ran.map(({ name }) => name);
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await guard.end();
  }
}

async function takeTurn(guard: Client, onWait: () => void): Promise<void> {
  const { rows } = await guard.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1) AS free', [
    MIGRATION_LOCK,
  ]);
  if (rows[0]?.free === true) return;
  onWait();
  await guard.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
}

async function refuseNewer(dataSource: DataSource): Promise<void> {
  const [found] = await dataSource.query<{ exists: boolean }[]>(
    `SELECT to_regclass('migration') IS NOT NULL AS exists`,
  );
  if (found?.exists !== true) return;
  const known = dataSource.migrations.map(({ name }) => name);
  const unknown = await dataSource.query<{ name: string }[]>(
    'SELECT name FROM migration WHERE name <> ALL ($1) ORDER BY timestamp',
    [known],
  );
  if (unknown.length === 0) return;
  throw new SchemaError(
    'The database was migrated by a newer version, and this one could damage its data: it has run ' +
      `${unknown.map(({ name }) => name).join(', ')}. Start that version, or restore a backup of before.`,
  );
}
