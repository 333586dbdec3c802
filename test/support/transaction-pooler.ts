import { once } from 'node:events';
import type { Socket } from 'node:net';
import { HEADER_BYTES, openServerStream, Pooler, WELCOME } from './pooler';

const TERMINATE = 'X'.charCodeAt(0);
const READY_FOR_QUERY = 'Z'.charCodeAt(0);
const OUTSIDE_TRANSACTION = 'I'.charCodeAt(0);

/**
 * A pooler like PgBouncer with `pool_mode = transaction`. A client has a server connection only during a transaction;
 * afterwards, other clients can use it. Of the free connections, the one that was used last is taken first, or with
 * `takesTurns` the one that was used first.
 */
export class TransactionPooler extends Pooler {
  private readonly idle: Socket[] = [];
  private readonly streams: Socket[] = [];

  private constructor(
    databaseUrl: string,
    private readonly takesTurns: boolean,
  ) {
    super(databaseUrl);
  }

  static before(databaseUrl: string, takesTurns = false): Promise<TransactionPooler> {
    return new TransactionPooler(databaseUrl, takesTurns).listen();
  }

  override async close(): Promise<void> {
    for (const stream of this.streams) stream.destroy();
    await super.close();
  }

  protected override async serve(client: Socket): Promise<void> {
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
