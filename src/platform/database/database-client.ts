import { Client, type ClientConfig } from 'pg';

const FROM_DATABASE = new WeakSet<object>();

/**
 * Returns true if the error comes from a connection to the database. The error code does not show this, because
 * connections to other systems can fail with the same codes.
 */
export function isFromDatabase(error: object): boolean {
  return FROM_DATABASE.has(error);
}

type Connected = ((error: Error) => void) | ((error: null, client: Client) => void);

/** A database connection that marks its errors, so that {@link isFromDatabase} recognizes them. */
export class DatabaseClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    // The event is emitted before the statements in progress fail with the same error.
    this.on('error', mark);
  }

  override connect(): Promise<Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<Client> | undefined {
    if (callback === undefined) {
      return super.connect().catch((error: unknown) => {
        mark(error);
        throw error;
      });
    }
    super.connect((error: Error) => {
      mark(error);
      (callback as (error: Error) => void)(error);
    });
    return undefined;
  }
}

/** @param error null after a successful connection */
function mark(error: unknown): void {
  if (typeof error === 'object' && error !== null) FROM_DATABASE.add(error);
}
