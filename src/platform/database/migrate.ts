import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from './data-source-options';

/** Any number: all processes of the engine must use the same one. */
const MIGRATION_LOCK = 7_205_759_403;

/**
 * Brings the database to the newest schema and returns the names of the migrations it ran. TypeORM takes no lock of its
 * own, so two processes that start at once would run the same migration twice; the second waits here for the first.
 */
export async function migrate(url: string): Promise<readonly string[]> {
  const guard = new Client({ connectionString: url });
  await guard.connect();
  try {
    await guard.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const dataSource = new DataSource({ ...dataSourceOptions(url, 2), extra: {} });
    await dataSource.initialize();
    try {
      const ran = await dataSource.runMigrations();
      return ran.map(({ name }) => name);
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await guard.end();
  }
}
