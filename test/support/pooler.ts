import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Client } from 'pg';

const LENGTH_BYTES = 4;
export const HEADER_BYTES = 5;

function message(type: string, body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(type);
  header.writeInt32BE(body.length + LENGTH_BYTES, 1);
  return Buffer.concat([header, body]);
}

/**
 * Answer to a new client: any user may connect. The key with which clients cancel statements is invented; it belongs to
 * no server connection.
 */
export const WELCOME = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('S', Buffer.from('client_encoding\0UTF8\0')),
  message('K', Buffer.alloc(8, 1)),
  message('Z', Buffer.from('I')),
]);

/** A server between clients and a database. */
export abstract class Pooler {
  /** URL of the database through the pooler. */
  url = '';
  private readonly server = createServer();
  private readonly clients = new Set<Socket>();

  protected constructor(protected readonly databaseUrl: string) {}

  async close(): Promise<void> {
    for (const client of this.clients) client.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  protected async listen(): Promise<this> {
    this.server.on('connection', (client) => {
      this.clients.add(client);
      client.on('error', () => undefined);
      client.on('close', () => this.clients.delete(client));
      void this.serve(client);
    });
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const url = new URL(this.databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    this.url = url.toString();
    return this;
  }

  protected abstract serve(client: Socket): Promise<void>;
}

/** Opens a connection to a database, and returns its socket once the server waits for statements. */
export async function openServerStream(databaseUrl: string): Promise<Socket> {
  const session = new Client({ connectionString: databaseUrl });
  session.on('error', () => undefined);
  await session.connect();
  const { stream } = (session as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners('data');
  return stream;
}
