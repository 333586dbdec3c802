/** The way out that every failure of the embedded server leaves open. */
export const OWN_SERVER = 'set DATABASE_URL to a PostgreSQL 15 to 18 server';

/** The embedded server cannot be started, used or stopped. The message says what to do about it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
