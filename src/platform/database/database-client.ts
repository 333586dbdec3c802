import type { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { Client, type ClientConfig, defaults, types } from 'pg';

// Makes `pg` write instants in UTC. By default, it writes them in the time zone of the process, with an offset in whole
// minutes. Old instants would then be stored up to a minute too early or too late. Until 1911, for example, the offset
// of Paris was 9 minutes and 21 seconds.
defaults.parseInputDatesAsUTC = true;

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

/**
 * Parses an instant from the database.
 * @throws {Error} if the text is not in ISO style. The parser of `pg` would return null, as if no instant were stored.
 */
function requireInstant(text: string): unknown {
  const instant = parseInstant(text);
  if (instant === null) throw new Error(`The instant ${text} is not in the DateStyle ISO.`);
  return instant;
}

/** The part of a stream that `pg` uses to read. */
interface ReadStream {
  on(event: string, read: (bytes: Buffer) => void): unknown;
}

/** The connection of a `pg` client. The types of `pg` do not declare it. */
interface DriverConnection extends EventEmitter {
  /** Starts to read from the stream. With TLS, `pg` calls it with the encrypted stream. */
  attachListeners(stream: ReadStream): void;
}

/**
 * Makes a connection close when a message arrives that `pg` cannot read, such as a request for GSSAPI authentication.
 * The statements of the connection then fail as if the connection had broken. By default, `pg` throws such an error in
 * a listener of the stream, which would end the process.
 */
function closeIfUnreadable(connection: DriverConnection): void {
  const attach = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream: Duplex) =>
    attach({
      on: (event, read) =>
        stream.on(event, (bytes: Buffer) => {
          try {
            read(bytes);
          } catch (error) {
            stream.destroy(error as Error);
          }
        }),
    });
  // `pg` reports a message of unknown kind as an error of the server. Errors of the server have a severity.
  connection.on('errorMessage', (error: Error) => {
    if (!('severity' in error)) throw error;
  });
}

/**
 * A database connection that marks its errors, so that {@link isFromDatabase} recognizes them. A statement fails if it
 * returns an instant that cannot be read. The connection is closed if a message cannot be read.
 */
export class DatabaseClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    closeIfUnreadable((this as unknown as { readonly connection: DriverConnection }).connection);
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

/** Marks an error for {@link isFromDatabase}. Ignores null, which `pg` passes after a successful connection. */
function mark(error: unknown): void {
  if (typeof error === 'object' && error !== null) FROM_DATABASE.add(error);
}
