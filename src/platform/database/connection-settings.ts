import type { ClientBase, ClientConfig, Pool, QueryConfig } from 'pg';
import { DatabaseClient } from './database-client';

export const CONNECT_TIMEOUT_MS = 5_000;
/** After a connection was idle for this time, the client checks that the machine of the server is reachable. */
const KEEP_ALIVE_MS = 10_000;
/** Longest wait for a lock that another transaction holds. */
const LOCK_TIMEOUT_MS = 5_000;
export const STATEMENT_TIMEOUT_MS = 30_000;
/** The client waits this much longer than the server's statement timeout, so that the server's error arrives first. */
export const ANSWER_SLACK_MS = 5_000;
/**
 * Maximum pause between two statements of a transaction. After a longer pause, the server ends the session, so that a
 * dead process keeps no locks.
 */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 45_000;
/** Interval at which the server checks, while a statement runs, that its client is still connected. */
const CLIENT_CHECK_MS = 10_000;

/**
 * Switches off `transaction_timeout`. The setting exists since PostgreSQL 17; on older versions the statement does
 * nothing.
 */
const NO_TRANSACTION_TIMEOUT = `
  SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('transaction_timeout', true) IS NOT NULL`;

/** SQLSTATE `invalid_parameter_value`. */
const INVALID_VALUE = '22023';

/**
 * Returns the session settings that affect results or limit the time of statements. Sets each of them explicitly,
 * because an administrator may have changed the default of the role or the database. A statement sets them after
 * connecting, because poolers refuse or drop most settings that a client sends while connecting.
 */
function sessionSettings(statementTimeoutMs: number): Readonly<Record<string, string | number>> {
  return {
    // How values are written and read. `pg` reads no instants but those in ISO style.
    TimeZone: 'UTC',
    DateStyle: 'ISO, MDY',
    IntervalStyle: 'postgres',
    extra_float_digits: 1,
    bytea_output: 'hex',
    standard_conforming_strings: 'on',
    array_nulls: 'on',
    // With a limit, a search may leave out some of its rows.
    gin_fuzzy_search_limit: 0,
    default_transaction_isolation: 'read committed',
    lock_timeout: LOCK_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    // A connection is idle while it waits for the rest of a long NDJSON body.
    idle_session_timeout: 0,
    // Statements are too short for JIT compilation to pay off.
    jit: 'off',
    // Keepalives in seconds: a client whose machine does not answer is disconnected after 20 + 5 * 5 s.
    tcp_keepalives_idle: 20,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 5,
    tcp_user_timeout: 45_000,
  };
}

/** @param statementTimeoutMs 0 means no limit */
export function clientSettings(statementTimeoutMs = STATEMENT_TIMEOUT_MS): ClientConfig {
  return {
    application_name: 'billing-engine',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: statementTimeoutMs + Math.min(statementTimeoutMs, ANSWER_SLACK_MS),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/**
 * Applies the session settings to a new connection. Also adds an error listener, because an error of a connection
 * without a listener would end the process.
 */
export async function prepareConnection(
  connection: ClientBase,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
): Promise<void> {
  // The connection may break while neither the pool nor a caller listens. The next statement on the connection then
  // fails.
  connection.on('error', () => undefined);
  const settings = Object.entries(sessionSettings(statementTimeoutMs));
  const first: QueryConfig & { readonly query_timeout: number } = {
    text: [
      ...settings.map(([name, value]) => `SET ${name} = '${value}'`),
      NO_TRANSACTION_TIMEOUT,
    ].join('; '),
    // A pooler without a free connection accepts its client, and lets the first statement wait.
    query_timeout: CONNECT_TIMEOUT_MS,
  };
  await connection.query(first);
  try {
    await connection.query(`SET client_connection_check_interval = ${CLIENT_CHECK_MS}`);
  } catch (error) {
    // Servers on Windows do not support this check.
    if ((error as { readonly code?: string }).code !== INVALID_VALUE) throw error;
  }
}

/**
 * Opens a connection that belongs to no pool.
 * @param onAccepted called when the server or a pooler has accepted the client, before the first statement
 */
export async function openConnection(
  url: string,
  onAccepted: () => void = () => undefined,
): Promise<DatabaseClient> {
  const connection = new DatabaseClient({ connectionString: url, ...clientSettings() });
  try {
    await connection.connect();
    onAccepted();
    await prepareConnection(connection);
    return connection;
  } catch (error) {
    void connection.end().catch(() => undefined);
    throw error;
  }
}

/** `pg` records whether the last statement was answered, but its types do not declare it. */
interface Answering {
  readonly readyForQuery?: boolean;
}

/** Returns true if the connection has no open transaction and its last statement was answered. */
export function isIdle(connection: ClientBase): boolean {
  // The transaction status is that of the last answer, and says nothing about an unanswered statement.
  return (
    connection.getTransactionStatus() === 'I' && (connection as Answering).readyForQuery === true
  );
}

/**
 * Makes a pool close a released connection that has an open transaction or an unanswered statement. Otherwise the
 * statements of the next caller would run in the open transaction, and be rolled back with it.
 */
export function keepOnlyIdleConnections(pool: Pool): void {
  pool.on('release', (_, connection) => {
    // The pool drops connections that are ending.
    if (!isIdle(connection)) void connection.end().catch(() => undefined);
  });
}
