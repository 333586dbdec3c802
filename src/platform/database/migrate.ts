import { DataSource } from 'typeorm';
import { openConnection } from './connection-settings';
import { lockMigrations } from './migration-lock';
import { migrationOptions, recordedMigrations, runMigrations } from './run-migrations';
import { requireDedicatedSessions } from './require-dedicated-sessions';

/** Thrown if this version of the service cannot use the schema of the database. */
export class SchemaError extends Error {}

/**
 * Migrates the database to the newest schema, and returns the names of the migrations that ran. Takes a lock, so that
 * processes that start together migrate one after the other. TypeORM itself takes no lock.
 * @param onWait called with a description of the session that this process waits for. `migration` is the migration that
 *   waits for a lock of that session. It is null while no migration has started yet.
 * @throws {SchemaError} if a newer version has migrated the database, because this version could damage it
 * @throws {PoolerError} if a pooler lets clients share sessions
 * @throws {MigrationLockError} if the wait takes longer than `maxWaitForLockMs`, or the migration lock is lost
 */
export async function migrate(
  url: string,
  onWait: (holder: string, migration: string | null) => void = () => undefined,
  maxWaitForLockMs = 300_000,
): Promise<readonly string[]> {
  await requireDedicatedSessions(url);
  const guard = await openConnection(url);
  try {
    const lost = await lockMigrations(guard, (holder) => onWait(holder, null), maxWaitForLockMs);
    const dataSource = new DataSource(migrationOptions(url));
    await dataSource.initialize();
    try {
      await refuseNewer(dataSource);
      return await runMigrations(
        dataSource,
        (migration, holder) => onWait(holder, migration),
        maxWaitForLockMs,
        lost,
      );
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await guard.end();
  }
}

async function refuseNewer(dataSource: DataSource): Promise<void> {
  const known = dataSource.migrations.map(({ name }) => name);
  const recorded = await recordedMigrations(dataSource);
  const unknown = recorded.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new SchemaError(
    'The database was migrated by a newer version, and this one could damage its data: it has run ' +
      `${unknown.join(', ')}. Start that version, or restore a backup of before.`,
  );
}
