import { QueryFailedError } from 'typeorm';

interface PostgresError {
  readonly code?: string;
  readonly constraint?: string;
}

function asPostgresError(error: unknown): PostgresError | null {
  const candidate: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return candidate instanceof Error ? (candidate as PostgresError) : null;
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

const OUT_OF_REACH = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
]);

const OUT_OF_REACH_MESSAGE =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end/;

/** Whether the database could not be reached, is shutting down, or is too busy: the caller may try again later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const postgresError = asPostgresError(error);
  if (postgresError === null) return false;
  const { code } = postgresError;
  if (code !== undefined) {
    const class_ = code.slice(0, 2);
    return (
      OUT_OF_REACH.has(code) ||
      class_ === '08' || // connection exception
      class_ === '53' || // insufficient resources
      code === LOCK_NOT_AVAILABLE ||
      code === '57014' || // query_canceled: statement_timeout
      code.startsWith('57P') // operator intervention: shutdown, crash, cannot connect now
    );
  }
  return error instanceof Error && OUT_OF_REACH_MESSAGE.test(error.message);
}
