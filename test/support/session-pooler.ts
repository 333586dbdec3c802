import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { openServerStream, WELCOME } from './transaction-pooler';

/**
 * A pooler like PgBouncer with `pool_mode = session`. It welcomes every client at once. A client then has a server
 * connection until it disconnects. At most `size` clients have one; the others wait, in the order of their arrival.
 */
export class SessionPooler {
  private readonly clients = new Set<Socket>();
  private readonly waiting: (() => void)[] = [];

  private constructor(
    private readonly server: Server,
    private readonly databaseUrl: string,
    readonly url: string,
    private free: number,
  ) {}

  static async before(databaseUrl: string, size: number): Promise<SessionPooler> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const pooler = new SessionPooler(server, databaseUrl, url.toString(), size);
    server.on('connection', (client) => void pooler.serve(client));
    return pooler;
  }

  async close(): Promise<void> {
    for (const client of this.clients) client.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(client: Socket): Promise<void> {
    this.clients.add(client);
    client.on('error', () => undefined);
    client.on('close', () => this.clients.delete(client));
    await once(client, 'data');
    client.pause();
    client.write(WELCOME);
    await this.enter();
    const stream = client.destroyed ? null : await openServerStream(this.databaseUrl);
    if (stream === null || client.destroyed) {
      stream?.destroy();
      this.leave();
      return;
    }
    client.on('close', () => stream.destroy());
    stream.on('close', () => {
      client.destroy();
      this.leave();
    });
    stream.pipe(client);
    client.pipe(stream);
  }

  private async enter(): Promise<void> {
    if (this.free === 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.free -= 1;
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next();
  }
}
