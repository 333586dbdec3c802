import { codeOf, messageOf } from './files';

/** Part of error messages: what to use instead of the embedded server. */
export const OWN_SERVER = 'set DATABASE_URL to a PostgreSQL 15 to 18 server';

/** Thrown if the embedded server cannot be started, used or stopped. The message says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Runs `work`. Turns system errors, such as "permission denied" or "no space left", into errors with instructions. */
export async function explaining<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EmbeddedPostgresError || codeOf(error) === undefined) throw error;
    throw new EmbeddedPostgresError(
      `The embedded database in ${directory} cannot be used: ${messageOf(error)}. If it belongs to another ` +
        `user, start as that user or choose another directory; else fix the cause, or ${OWN_SERVER}.`,
      { cause: error },
    );
  }
}
