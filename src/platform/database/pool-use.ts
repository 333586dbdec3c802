import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';

export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as PostgresDriver).master as Pool;
}

export interface PoolUse {
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

export function poolUseOf(dataSource: DataSource): PoolUse {
  const { totalCount, idleCount, waitingCount } = poolOf(dataSource);
  return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

/** Closes an idle connection of a pool. Returns false if none is idle. */
export async function closeIdleConnection(pool: Pool): Promise<boolean> {
  if (pool.idleCount === 0) return false;
  (await pool.connect()).release(true);
  return true;
}
