import type { Pool, PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { Jobs } from '../../src/platform/jobs';
import { startTestApp } from './test-app';

/**
 * Runs an engine in a process of its own. Counts how often its pool hands out a connection, and how often this
 * connection is not idle. Started with `run-ts.cjs`, with a database and a statement timeout as arguments; exchanges
 * messages over IPC.
 */
export type AuditedMessage =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'audit'; readonly handedOut: number; readonly notIdle: number };

/** Sets the clock of the engine and wakes due work. The process answers with its counts. */
export interface TimeMessage {
  readonly now: string;
  readonly work: readonly string[];
}

const audit = { handedOut: 0, notIdle: 0 };

function watch(pool: Pool): void {
  pool.on('acquire', (connection: PoolClient) => {
    const { readyForQuery } = connection as PoolClient & { readyForQuery?: boolean };
    const isIdle = connection.getTransactionStatus() === 'I' && readyForQuery === true;
    audit.handedOut += 1;
    if (!isIdle) audit.notIdle += 1;
  });
}

function send(message: AuditedMessage): void {
  process.send?.(message);
}

async function main([databaseUrl = '', timeoutMs = '']: readonly string[]): Promise<void> {
  const engine = await startTestApp({
    databaseUrl,
    environment: {
      ROLE: 'all',
      LOG_LEVEL: 'fatal',
      DATABASE_POOL_SIZE: '8',
      DATABASE_STATEMENT_TIMEOUT_MS: timeoutMs,
    },
  });
  watch((engine.app.get(DataSource).driver as PostgresDriver).master as Pool);
  const jobs = engine.app.get(Jobs);
  process.on('message', ({ now, work }: TimeMessage) => {
    engine.clock.set(now);
    for (const name of work) jobs.wake(name);
    send({ kind: 'audit', ...audit });
  });
  process.on('disconnect', () => process.exit());
  send({ kind: 'listening', url: await engine.app.getUrl() });
}

void main(process.argv.slice(2));
