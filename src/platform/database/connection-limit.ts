import { Logger } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { CONNECT_TIMEOUT_MS } from './connection-settings';
import { isConnectionLimit } from './postgres-errors';

/** Time for which the pool opens no further connection after the server has refused one. */
const LIMITED_MS = 5_000;

type Callback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: PoolClient['release'],
) => void;

interface Caller {
  readonly callback: Callback;
  /** Time at which the caller gives up, on the clock of `performance.now()`. */
  readonly until: number;
  timer?: NodeJS.Timeout;
}

/** A pool with `newClient`, which opens a connection for a caller. The types of `pg` do not declare this method. */
type OpeningPool = Pool & {
  newClient(opening: { readonly callback: Callback; readonly timedOut: boolean }): void;
};

/**
 * Makes a pool pass errors of the driver to the caller that needs the connection. The driver throws, for example, if it
 * cannot read a certificate file. Thrown in a callback of the pool, the error would end the process.
 */
function catchDriverErrors(pool: OpeningPool): void {
  const newClient = pool.newClient.bind(pool);
  pool.newClient = (opening) => {
    try {
      newClient(opening);
    } catch (error) {
      if (!opening.timedOut) opening.callback(error as Error, undefined, () => undefined);
    }
  };
}

/**
 * Makes the callers of a pool wait for one of its open connections if the server refuses to open more. By default, the
 * pool fails such a caller at once, although another connection will soon be free.
 */
export function shareAtConnectionLimit(pool: Pool): void {
  catchDriverErrors(pool as OpeningPool);
  const queue = new ConnectionQueue(pool);
  Object.defineProperty(pool, 'waitingCount', { get: () => queue.length });
  pool.connect = ((callback?: Callback) => {
    if (callback !== undefined) {
      queue.enter(callback);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      queue.enter((error, client) => {
        if (client === undefined) reject(error ?? new Error('No connection.'));
        else resolve(client);
      });
    });
  }) as Pool['connect'];
}

/**
 * Gives the connections of a pool to callers in the order of their arrival. Passes only as many callers to the pool as
 * can have a connection. The other callers wait in this queue. If they waited in the pool, it would try to open a
 * connection for the next caller after each refusal of the server.
 */
class ConnectionQueue {
  private readonly connect: (callback: Callback) => void;
  private readonly waiting: Caller[] = [];
  /** Number of callers that have a connection or are about to get one. */
  private active = 0;
  /**
   * Connections that callers have now. The pool also emits `release` for a connection that opened after its caller
   * timed out. Such a connection is never in this set, so its release does not lower `active`.
   */
  private readonly held = new Set<PoolClient>();
  /** Maximum of `active`: the size of the pool, or less after the server has refused a connection. */
  private limit: number;
  /** Timer that restores the full `limit`; undefined while the full limit applies. */
  private limited: NodeJS.Timeout | undefined;
  private isLogged = false;

  constructor(private readonly pool: Pool) {
    this.connect = pool.connect.bind(pool) as (callback: Callback) => void;
    this.limit = pool.options.max;
    pool.on('release', (_error, client) => {
      if (this.held.delete(client)) this.active -= 1;
      process.nextTick(() => {
        if (pool.idleCount > 0) this.serve();
      });
    });
    // A connection that was not kept makes room only when it is closed.
    pool.on('remove', () => this.serve());
  }

  get length(): number {
    return this.waiting.length;
  }

  enter(callback: Callback): void {
    const caller: Caller = { callback, until: performance.now() + CONNECT_TIMEOUT_MS };
    if (this.waiting.length === 0 && this.active < this.limit) this.open(caller);
    else this.wait(caller);
  }

  private wait(caller: Caller): void {
    this.waiting.push(caller);
    caller.timer = setTimeout(() => {
      this.waiting.splice(this.waiting.indexOf(caller), 1);
      fail(caller, new Error('timeout exceeded when trying to connect'));
    }, caller.until - performance.now()).unref();
  }

  private serve(): void {
    while (this.active < this.limit) {
      const next = this.waiting.shift();
      if (next === undefined) return;
      clearTimeout(next.timer);
      this.open(next);
    }
  }

  private open(caller: Caller): void {
    this.active += 1;
    this.connect((error, client) => {
      if (client === undefined) {
        this.active -= 1;
        this.refuse(caller, error ?? new Error('No connection.'));
      } else {
        this.held.add(client);
        caller.callback(undefined, client, (destroy) => client.release(destroy));
      }
      this.logLimit();
      this.serve();
    });
  }

  private refuse(caller: Caller, error: Error): void {
    if (!isConnectionLimit(error)) {
      fail(caller, error);
      return;
    }
    this.limitToOpen();
    this.wait(caller);
    this.waiting.sort((one, other) => one.until - other.until);
    if (this.pool.totalCount > 0) return;
    for (const one of this.waiting.splice(0)) {
      clearTimeout(one.timer);
      fail(one, error);
    }
  }

  private limitToOpen(): void {
    this.limit = Math.max(1, Math.min(this.limit, this.pool.totalCount));
    this.limited ??= setTimeout(() => {
      this.limited = undefined;
      this.isLogged = false;
      this.limit = this.pool.options.max;
      this.serve();
    }, LIMITED_MS).unref();
  }

  /**
   * Logs once, until the limit is lifted, that the server refuses connections. Logs only while no connection is being
   * opened, because only then is the number of open connections known.
   */
  private logLimit(): void {
    if (this.limited === undefined || this.isLogged) return;
    const { totalCount, idleCount, options } = this.pool;
    if (totalCount === 0 || totalCount > idleCount + this.held.size) return;
    this.isLogged = true;
    new Logger('database').warn(
      { open: totalCount, pool_size: options.max },
      'the server allows no further connections: requests wait for the open ones',
    );
  }
}

function fail({ callback }: Caller, error: Error): void {
  callback(error, undefined, () => undefined);
}
