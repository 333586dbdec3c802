import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Client } from 'pg';

const LENGTH_BYTES = 4;
const HEADER_BYTES = 5;
const TERMINATE = 'X'.charCodeAt(0);
const READY_FOR_QUERY = 'Z'.charCodeAt(0);
const OUTSIDE_TRANSACTION = 'I'.charCodeAt(0);

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

/**
 * A pooler like PgBouncer with `pool_mode = transaction`. A client has a server connection only during a transaction;
 * afterwards, other clients can use it. Of the free connections, the one that was used last is taken first, or with
 * `takesTurns` the one that was used first.
 */
export class TransactionPooler {
  private readonly idle: Socket[] = [];
  private readonly streams: Socket[] = [];
  private readonly clients = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly databaseUrl: string,
    readonly url: string,
    private readonly takesTurns: boolean,
  ) {}

  static async before(databaseUrl: string, takesTurns = false): Promise<TransactionPooler> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const pooler = new TransactionPooler(server, databaseUrl, url.toString(), takesTurns);
    server.on('connection', (client) => void pooler.serve(client));
    return pooler;
  }

  async close(): Promise<void> {
    for (const client of this.clients) client.destroy();
    for (const stream of this.streams) stream.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(client: Socket): Promise<void> {
    this.clients.add(client);
    client.on('error', () => undefined);
    await once(client, 'data');
    client.write(WELCOME);
    let session: Promise<Socket> | null = null;
    client.on('data', (bytes) => {
      if (bytes[0] === TERMINATE) return;
      session ??= this.lend(client, () => (session = null));
      void session.then((stream) => stream.write(bytes));
    });
  }

  /** Lends a server connection for one transaction. */
  private async lend(client: Socket, giveBack: () => void): Promise<Socket> {
    const free = this.takesTurns ? this.idle.shift() : this.idle.pop();
    const stream = free ?? (await this.connect());
    let rest: Buffer = Buffer.alloc(0);
    const pass = (bytes: Buffer): void => {
      client.write(bytes);
      rest = Buffer.concat([rest, bytes]);
      while (rest.length >= HEADER_BYTES && rest.length > rest.readInt32BE(1)) {
        const isOver = rest[0] === READY_FOR_QUERY && rest[HEADER_BYTES] === OUTSIDE_TRANSACTION;
        rest = rest.subarray(1 + rest.readInt32BE(1));
        if (!isOver) continue;
        stream.off('data', pass);
        this.idle.push(stream);
        giveBack();
      }
    };
    stream.on('data', pass);
    return stream;
  }

  private async connect(): Promise<Socket> {
    const stream = await openServerStream(this.databaseUrl);
    this.streams.push(stream);
    return stream;
  }
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
