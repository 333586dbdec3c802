import type { Duplex } from 'node:stream';
import { Client } from 'pg';
import { codeOf } from './files';
import { LOOPBACK } from './ports';

const SUPERUSER = 'postgres';

/** Short, because the server runs on the same machine. */
const CONNECT_TIMEOUT_MS = 5_000;

const WRONG_PASSWORD = ['28P01', '28000'];
const DUPLICATE_DATABASE = '42P04';

export interface Login {
  readonly port: number;
  readonly password: string;
}

export function connectionString({ port, password }: Login, database: string): string {
  // Not encodeURIComponent: `pg` decodes only what encodeURI encodes.
  return `postgres://${SUPERUSER}:${password}@${LOOPBACK}:${port}/${encodeURI(database)}`;
}

/** The part of a stream that `pg` uses to read. */
interface ReadStream {
  on(event: string, read: (bytes: Buffer) => void): unknown;
}

/** The connection of a `pg` client. The types of `pg` do not declare it. */
interface DriverConnection {
  attachListeners(stream: ReadStream): void;
}

/**
 * Closes the connection if another program listens on the port, and sends what `pg` cannot read. `pg` throws in a
 * listener of the stream, which would end the process.
 */
function closeIfUnreadable(client: Client): void {
  const { connection } = client as unknown as { readonly connection: DriverConnection };
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
}

async function withClient<T>(login: Login, work: (client: Client) => Promise<T>): Promise<T> {
  // All options are set here, so that PGSSLMODE and similar variables of the shell have no effect.
  const client = new Client({
    ...login,
    host: LOOPBACK,
    user: SUPERUSER,
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // A broken connection rejects the query and also emits `error`. Without a listener, that event would end the process.
  client.on('error', () => undefined);
  closeIfUnreadable(client);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Returns the data directory of the server on the port; `refused` if the server refuses the password; undefined if the
 * server does not answer, or answers with another error.
 */
export async function askDataDirectory(
  login: Login,
): Promise<{ readonly dataDirectory: string } | 'refused' | undefined> {
  try {
    return await withClient(login, async (client) => {
      const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
      const [row] = rows;
      return row === undefined ? undefined : { dataDirectory: row.data_directory };
    });
  } catch (error) {
    return WRONG_PASSWORD.includes(codeOf(error) ?? '') ? 'refused' : undefined;
  }
}

export async function ensureDatabase(login: Login, database: string): Promise<void> {
  await withClient(login, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [
      database,
    ]);
    if (rowCount) return;
    try {
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`);
    } catch (error) {
      if (codeOf(error) !== DUPLICATE_DATABASE) throw error;
    }
  });
}
