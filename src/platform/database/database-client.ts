import { Client, type ClientConfig, types } from 'pg';

const FROM_DATABASE = new WeakSet<object>();

/**
 * Returns true if the error comes from a connection to the database. The error code does not show this, because
 * connections to other systems can fail with the same codes.
 */
export function isFromDatabase(error: object): boolean {
  return FROM_DATABASE.has(error);
}

type Connected = ((error: Error) => void) | ((error: null, client: Client) => void);

const parseInstant = types.getTypeParser(types.builtins.TIMESTAMPTZ) as (text: string) => unknown;

/** @throws {Error} if the text is not in ISO style. The parser of `pg` returns null for it, as if no instant were stored. */
function requireInstant(text: string): unknown {
  const instant = parseInstant(text);
  if (instant === null) throw new Error(`The instant ${text} is not in the DateStyle ISO.`);
  return instant;
}

/**
 * A database connection that marks its errors, so that {@link isFromDatabase} recognizes them. A statement fails if it
 * returns an instant that cannot be read.
 */
export class DatabaseClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    // The event is emitted before the statements in progress fail with the same error.
    this.on('error', mark);
    this.setTypeParser(types.builtins.TIMESTAMPTZ, requireInstant);
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
