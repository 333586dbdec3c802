import { types } from 'node:util';
import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { isFromDatabase } from './database-client';
import { OutcomeUnknownError } from './outcome-unknown';

interface PostgresError {
  readonly message: string;
  readonly code?: string;
  readonly constraint?: string;
  /** Function of PostgreSQL that raised the error. */
  readonly routine?: string;
}

/** Returns the error of `pg` or of a socket, without the errors that wrap it. Null for a value that is not an error. */
export function asPostgresError(error: unknown): PostgresError | null {
  const thrown: unknown = error instanceof OutcomeUnknownError ? error.cause : error;
  const candidate: unknown = thrown instanceof QueryFailedError ? thrown.driverError : thrown;
  // Socket errors are created outside of the realm of Jest, so `instanceof Error` fails for them.
  return types.isNativeError(candidate) ? candidate : null;
}

/** Returns the name of the violated unique, check, foreign key or exclusion constraint; null for any other error. */
export function violatedConstraint(error: unknown): string | null {
  const postgresError = asPostgresError(error);
  return postgresError?.code?.startsWith('23') === true ? (postgresError.constraint ?? null) : null;
}

/** Awaits a statement. If it violates the constraint, throws `refusal()` instead of the error of the database. */
export async function onViolation<Result>(
  statement: Promise<Result>,
  constraint: string,
  refusal: () => Error,
): Promise<Result> {
  try {
    return await statement;
  } catch (error) {
    throw violatedConstraint(error) === constraint ? refusal() : error;
  }
}

/**
 * Constraint that is violated if two transactions give the same sequence number to events of one object. A retry takes
 * the next number.
 */
const RETRIED_CONSTRAINT = 'event_object_sequence_unique';

/** Returns true for deadlocks, serialization failures and violations of {@link RETRIED_CONSTRAINT}. */
export function isWorthRetrying(error: unknown): boolean {
  const code = asPostgresError(error)?.code;
  return code === '40P01' || code === '40001' || violatedConstraint(error) === RETRIED_CONSTRAINT;
}

/** Returns true if a row violates a check constraint or the bounds of its partition. */
export function violatesCheck(error: unknown): boolean {
  return asPostgresError(error)?.code === '23514';
}

/** Returns true if stored data of a row cannot be read, because its page or a compressed value is damaged. */
export function isDataDamaged(error: unknown): boolean {
  return asPostgresError(error)?.code === 'XX001';
}

/** Returns true if a transaction can continue after this error, once it has rolled back to a savepoint. */
export function failsPartAlone(error: unknown): boolean {
  return isWorthRetrying(error) || isDataDamaged(error);
}

/** Returns true if another transaction held a lock for longer than the lock timeout. */
export function isLockTimeout(error: unknown): boolean {
  return asPostgresError(error)?.code === LOCK_NOT_AVAILABLE;
}

/** Returns true if the database refused a value, for example a text that is not a number. */
export function isDataException(error: unknown): boolean {
  return asPostgresError(error)?.code?.startsWith('22') === true;
}

/** Returns true if a table does not exist, for example because another process has dropped a partition. */
export function isTableMissing(error: unknown): boolean {
  return asPostgresError(error)?.code === '42P01';
}

/** Returns true if a table to be created exists already, for example because another process has created it. */
export function isTableCreated(error: unknown): boolean {
  return asPostgresError(error)?.code === '42P07';
}

/** Returns true if the server allows no further connection. */
export function isConnectionLimit(error: unknown): boolean {
  return asPostgresError(error)?.code === '53300';
}

const LOCK_NOT_AVAILABLE = '55P03';

/** SQLSTATE of a statement that was cancelled, usually by its timeout. */
const QUERY_CANCELED = '57014';

/** SQLSTATE of a write to a replica, or to a database that is set to read-only. */
const READ_ONLY = '25006';
/** SQLSTATEs for a prepared statement whose result columns have changed, or that does not exist in the session. */
const STALE_STATEMENT: ReadonlySet<string | undefined> = new Set(['0A000', '26000']);

/** SQLSTATEs that mean that the database or the session cannot be used. */
const OUT_OF_REACH = new Set([
  '3D000', // no such database
  '55000', // object not in prerequisite state: here, the database accepts no connections for now
  '25P03', // the session waited too long in a transaction
  '25P04', // the transaction took too long
  READ_ONLY,
]);

/** Classes of SQLSTATEs that mean that the database cannot be used. */
const OUT_OF_REACH_CLASSES = new Set([
  '08', // connection exception
  '28', // invalid authorization: unknown role, wrong password
  '53', // insufficient resources: connections, memory, disk
  '58', // system error, such as a failing disk
]);

/** Message of `pg` after it stopped waiting for an answer. The connection may still be waiting. */
const NO_ANSWER = 'Query read timeout';

/** Messages of `pg` for a statement that it did not send, because the connection was broken or closed. */
const NOT_SENT = 'Client (?:has encountered a connection error|was closed) and is not queryable';

const OUT_OF_REACH_MESSAGE = new RegExp(
  [
    NO_ANSWER,
    NOT_SENT,
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Connection terminated',
    'Cannot use a pool after calling end',
  ].join('|'),
);

/**
 * SQLSTATE with two meanings. PostgreSQL sends it for a refused message, such as a statement with too many parameters,
 * which is a defect of this service. PgBouncer sends it for most outages, such as `query_wait_timeout`.
 */
const PROTOCOL_VIOLATION = '08P01';

/** SQLSTATEs of errors that end the session, including those of poolers. */
const ENDS_SESSION = /^(?:57P|08|25P03|25P04)/;

/** Form of SQLSTATEs. Some error codes of sockets have this form too. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * Returns true if the answer to a statement was lost, so that the statement may have been executed. Returns false if
 * the database refused the statement, or if it was never sent.
 */
export function isAnswerLost(error: unknown): boolean {
  const postgresError = asPostgresError(error);
  if (postgresError === null || isMessageRefused(postgresError)) return false;
  const { code, message } = postgresError;
  if (isSqlState(postgresError, code)) return ENDS_SESSION.test(code);
  return isDatabaseOutOfReach(error) && !new RegExp(NOT_SENT).test(message);
}

/** Returns true for {@link PROTOCOL_VIOLATION} from PostgreSQL itself. Errors of poolers have no field `routine`. */
function isMessageRefused({ code, routine }: PostgresError): boolean {
  return code === PROTOCOL_VIOLATION && routine !== undefined;
}

/** Returns true if the database is unreachable, failing or read-only, or lacks connections, memory or disk space. */
export function isDatabaseOutOfReach(error: unknown): boolean {
  // TypeORM's error for a connection that was lost between two statements of a transaction.
  if (error instanceof QueryRunnerAlreadyReleasedError) return true;
  const postgresError = asPostgresError(error);
  if (postgresError === null || isMessageRefused(postgresError)) return false;
  const { code, message } = postgresError;
  if (isSqlState(postgresError, code)) {
    // Operator intervention: shutdown, crash, cannot connect now.
    return (
      code.startsWith('57P') || OUT_OF_REACH.has(code) || OUT_OF_REACH_CLASSES.has(code.slice(0, 2))
    );
  }
  // Errors of sockets, of TLS, or of the driver. Connections to other systems fail with the same codes, so only errors
  // marked by `DatabaseClient` count.
  if (isFromDatabase(postgresError)) return true;
  return postgresError.code === undefined && OUT_OF_REACH_MESSAGE.test(message);
}

/** Returns true for an SQLSTATE. Socket codes such as `EPIPE` look similar, but their errors have no severity. */
function isSqlState(error: PostgresError, code: string | undefined): code is string {
  return code !== undefined && 'severity' in error && SQLSTATE.test(code);
}

/** Returns true if the database is unreachable or overloaded. The caller may try again later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = asPostgresError(error)?.code;
  return code === LOCK_NOT_AVAILABLE || code === QUERY_CANCELED || isDatabaseOutOfReach(error);
}

/**
 * Returns true if the connection should not be used again: it does not answer, is read-only, or has a prepared statement
 * that fails each time.
 */
export function isConnectionUnusable(error: unknown): boolean {
  const postgresError = asPostgresError(error);
  const code = postgresError?.code;
  return code === READ_ONLY || STALE_STATEMENT.has(code) || postgresError?.message === NO_ANSWER;
}

/**
 * Returns true if failed work must not be repeated at once: the database is unreachable or overloaded, or the work may
 * have been committed. Returns false for a lock timeout, which concerns only one statement.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof OutcomeUnknownError) return true;
  return isDatabaseUnavailable(error) && !isLockTimeout(error);
}

/**
 * Returns true if the database was temporarily unable to do the work, so that the same work may succeed later. The
 * failed work may have been committed all the same.
 */
export function isInterruption(error: unknown): boolean {
  if (error instanceof OutcomeUnknownError) return true;
  return isDatabaseUnavailable(error) || isWorthRetrying(error);
}
