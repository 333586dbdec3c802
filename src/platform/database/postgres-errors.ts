import { types } from 'node:util';
import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';

interface PostgresError {
  readonly message: string;
  readonly code?: string;
  readonly constraint?: string;
}

function asPostgresError(error: unknown): PostgresError | null {
  const candidate: unknown = error instanceof QueryFailedError ? error.driverError : error;
  // Errors of sockets are made outside the realm that tests run in, where they are no `Error`.
  return types.isNativeError(candidate) ? candidate : null;
}

/** Name of the unique, check, foreign key or exclusion constraint that the failed statement broke, if it broke one. */
export function violatedConstraint(error: unknown): string | null {
  const postgresError = asPostgresError(error);
  return postgresError?.code?.startsWith('23') === true ? (postgresError.constraint ?? null) : null;
}

/** Two transactions took the same place in an object's sequence of events; the loser can take the next one. */
const RETRIED_CONSTRAINT = 'event_object_sequence_unique';

/** `deadlock_detected` and `serialization_failure`: the same work may well succeed when it is done again. */
export function isWorthRetrying(error: unknown): boolean {
  const code = asPostgresError(error)?.code;
  return code === '40P01' || code === '40001' || violatedConstraint(error) === RETRIED_CONSTRAINT;
}

/** Somebody held a row for longer than a caller waits. */
export function isLockTimeout(error: unknown): boolean {
  return asPostgresError(error)?.code === LOCK_NOT_AVAILABLE;
}

const LOCK_NOT_AVAILABLE = '55P03';

/** The statement was cancelled, as a rule because it ran for too long. */
const QUERY_CANCELED = '57014';

/** The database is a replica, or was set to take no writes. */
const READ_ONLY = '25006';

const OUT_OF_REACH = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  '3D000', // no such database
  READ_ONLY,
]);

/** Classes of SQLSTATE. */
const OUT_OF_REACH_CLASSES = new Set([
  '08', // connection exception
  '28', // it does not let us in
  '53', // insufficient resources: connections, memory, disk
  '58', // its disk fails
]);

/** `pg` stopped waiting for an answer; the connection still does. */
const NO_ANSWER = 'Query read timeout';

const OUT_OF_REACH_MESSAGE = new RegExp(
  [
    NO_ANSWER,
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Connection terminated',
    'Client has encountered a connection error',
    'Client was closed and is not queryable',
    'Cannot use a pool after calling end',
  ].join('|'),
);

/** Whether the database does not answer, lets nobody in, is full or takes no writes, whatever it is asked. */
export function isDatabaseOutOfReach(error: unknown): boolean {
  // What TypeORM says of a connection that was lost between two statements of a transaction.
  if (error instanceof QueryRunnerAlreadyReleasedError) return true;
  const postgresError = asPostgresError(error);
  if (postgresError === null) return false;
  const { code, message } = postgresError;
  if (code === undefined) return OUT_OF_REACH_MESSAGE.test(message);
  // Operator intervention: shutdown, crash, cannot connect now.
  if (code.startsWith('57P')) return true;
  return OUT_OF_REACH.has(code) || OUT_OF_REACH_CLASSES.has(code.slice(0, 2));
}

/** Whether the database is out of reach, or too busy with others: the caller may try again later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = asPostgresError(error)?.code;
  return code === LOCK_NOT_AVAILABLE || code === QUERY_CANCELED || isDatabaseOutOfReach(error);
}

/** Whether the connection that said so is of no more use: nothing comes of it, or of it no write. */
export function isConnectionUseless(error: unknown): boolean {
  const postgresError = asPostgresError(error);
  return postgresError?.code === READ_ONLY || postgresError?.message === NO_ANSWER;
}
