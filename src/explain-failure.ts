import { ConfigurationError } from './platform/config';
import {
  isDatabaseOutOfReach,
  isDatabaseUnavailable,
  MigrationLockError,
  PoolerError,
  SchemaError,
} from './platform/database';
import { EmbeddedPostgresError } from '../packages/embedded-postgres';

/** SQLSTATEs for an unknown role or wrong password, a missing database, and a missing schema. */
const DATABASE_REFUSES = /^(28...|3D000|3F000)$/;

/** SQLSTATE `insufficient_privilege`: the database user lacks a right. */
const RIGHT_MISSING = '42501';

/** SQLSTATE `query_canceled`, usually caused by the statement timeout. A lock timeout has another SQLSTATE. */
const STATEMENT_ENDED = '57014';

/** Errors whose message says what to do. */
const EXPLAINED = [
  ConfigurationError,
  EmbeddedPostgresError,
  MigrationLockError,
  PoolerError,
  SchemaError,
];

/**
 * Returns the text to print. It says what is wrong and which setting to correct. For a program defect, it is the stack
 * trace.
 */
export function explainFailure(error: unknown): string {
  if (EXPLAINED.some((kind) => error instanceof kind)) return (error as Error).message;
  const { code = '', syscall, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return `The port is taken (${message}). Stop what listens there, or set PORT or MONITORING_PORT to another one.`;
  }
  if (code === RIGHT_MISSING) {
    return (
      `The user of DATABASE_URL lacks a right in the database (${message}). ` +
      'docs/going-to-production.md has the statements that grant what is needed.'
    );
  }
  if (isDatabaseOutOfReach(error) || DATABASE_REFUSES.test(code)) {
    // The error for a host name with several addresses has an empty message.
    return `Cannot use the database (${message || code}). Check DATABASE_URL, and that its server runs.`;
  }
  if (isDatabaseUnavailable(error)) {
    const limit = code === STATEMENT_ENDED ? ', or set DATABASE_STATEMENT_TIMEOUT_MS' : '';
    return (
      `The database ended a statement of the start (${message}). See which sessions it waited for${limit}, and start ` +
      'again.'
    );
  }
  if (syscall === 'open') {
    return `Cannot read a file that a setting names, such as sslrootcert in DATABASE_URL (${message}).`;
  }
  if (syscall === 'getaddrinfo') {
    return `Cannot listen: HOST has no address (${message}). Set HOST to an address of this machine.`;
  }
  if (syscall === 'listen') {
    return `Cannot listen: ${message}. Set HOST, PORT or MONITORING_PORT.`;
  }
  return stack ?? String(error);
}
