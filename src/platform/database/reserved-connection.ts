import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { DataSource } from 'typeorm';
import { keepOnlyIdleConnections } from './connection-settings';
import type { TimedQuery } from './connections';
import { Database } from './database';
import { closeIdleConnection, poolOf } from './pool-use';
import { isConnectionLimit } from './postgres-errors';
import { postgresOptionsOf } from './postgres-options';

const LOCK_NOTHING = 'SELECT FROM migration LIMIT 0 FOR KEY SHARE';

/**
 * Keeps a connection for the readiness probe, which must be answered even while all other connections are busy. If the
 * server allows no further connection, or a pooler has none in time, uses the pool of the requests. Concurrent probes
 * share one query.
 */
@Injectable()
export class ReservedConnection implements OnApplicationShutdown {
  private pool: Pool | null = null;
  private pendingProbe: Promise<void> | null = null;

  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.pool?.end();
  }

  /**
   * Checks that the database accepts writes, by requesting a lock that only a writable database grants.
   * @param timeoutMs time limit for opening the connection and for the answer together
   * @throws {Error} if the database does not answer in time, or is read-only
   */
  async requireWritable(timeoutMs: number): Promise<void> {
    this.pendingProbe ??= this.database.withOutageLog(this.probe(timeoutMs)).finally(() => {
      this.pendingProbe = null;
    });
    let timer: NodeJS.Timeout | undefined;
    const isLate = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`The database did not answer within ${timeoutMs} ms.`));
      }, timeoutMs);
    });
    try {
      await Promise.race([this.pendingProbe, isLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Closes the connection if it is idle. Returns false if it is not. The next probe opens another connection, or uses
   * the pool of the requests.
   */
  async closeIdleConnection(): Promise<boolean> {
    return this.pool !== null && closeIdleConnection(this.pool);
  }

  private async probe(timeoutMs: number): Promise<void> {
    this.pool ??= this.connect(timeoutMs);
    const question: TimedQuery = { text: LOCK_NOTHING, query_timeout: timeoutMs };
    const connection = await openWithin(timeoutMs / 2, this.pool);
    if (connection === null) {
      await poolOf(this.dataSource).query(question);
      return;
    }
    try {
      await connection.query(question);
      connection.release();
    } catch (error) {
      connection.release(true);
      throw error;
    }
  }

  private connect(timeoutMs: number): Pool {
    const options = postgresOptionsOf(this.dataSource);
    const pool = new Pool({
      ...(options.extra as PoolConfig),
      ...(options.url === undefined ? {} : { connectionString: options.url }),
      max: 1,
      connectionTimeoutMillis: timeoutMs,
      idleTimeoutMillis: 0,
    });
    // A broken connection leaves the pool, and the next probe opens another.
    pool.on('error', () => undefined);
    keepOnlyIdleConnections(pool);
    return pool;
  }
}

/**
 * Opens the connection of the pool. Returns null if the server allows no further connection, or if the connection is
 * not open in time.
 */
async function openWithin(timeoutMs: number, pool: Pool): Promise<PoolClient | null> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => {
      isLate = true;
      resolve(null);
    }, timeoutMs);
  });
  const opened = pool.connect().then(
    (connection) => {
      if (isLate) connection.release();
      return connection;
    },
    (error: unknown) => {
      if (isLate || isConnectionLimit(error)) return null;
      throw error;
    },
  );
  try {
    return await Promise.race([opened, late]);
  } finally {
    clearTimeout(timer);
  }
}
