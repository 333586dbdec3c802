import { Logger } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { CONNECT_TIMEOUT_MS } from './connection-settings';
import { isConnectionLimit } from './postgres-errors';

/** Time for which a pool opens no further connections after the server has refused one. */
const LIMITED_MS = 5_000;

type Callback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: () => void,
) => void;

/**
 * Makes the callers of a pool wait for one of its open connections if the server refuses to open more. Without this,
 * the pool fails a caller at once, although another connection will soon be free.
 */
export function shareAtConnectionLimit(pool: Pool): void {
  const connect = pool.connect.bind(pool) as (callback: Callback) => void;
  const { max } = pool.options;
  let timer: NodeJS.Timeout | undefined;

  const limitToOpen = (): void => {
    pool.options.max = Math.min(pool.options.max, pool.totalCount);
    if (timer !== undefined) return;
    new Logger('database').warn(
      { open: pool.totalCount, pool_size: max },
      'the server allows no further connections: requests wait for the open ones',
    );
    timer = setTimeout(() => {
      timer = undefined;
      pool.options.max = max;
    }, LIMITED_MS).unref();
  };

  const acquire = (callback: Callback, until: number): void => {
    connect((error, client, done) => {
      const canWait = pool.totalCount > 0 && performance.now() < until;
      if (error === undefined || !canWait || !isConnectionLimit(error)) {
        callback(error, client, done);
        return;
      }
      limitToOpen();
      acquire(callback, until);
    });
  };

  pool.connect = ((callback?: Callback) => {
    const until = performance.now() + CONNECT_TIMEOUT_MS;
    if (callback !== undefined) {
      acquire(callback, until);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      acquire((error, client) => {
        if (client === undefined) reject(error ?? new Error('No connection.'));
        else resolve(client);
      }, until);
    });
  }) as Pool['connect'];
}
