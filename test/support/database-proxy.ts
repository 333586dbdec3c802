import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between an engine and its database, and breaks what goes between them in the ways that networks do. */
export class DatabaseProxy {
  private readonly sockets = new Set<Socket>();
  private readonly held = new Map<Socket, Buffer[]>();
  private isHolding = false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async before(databaseUrl: string): Promise<DatabaseProxy> {
    const behind = new URL(databaseUrl);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const inFront = new URL(databaseUrl);
    inFront.hostname = '127.0.0.1';
    inFront.port = String((server.address() as AddressInfo).port);
    const proxy = new DatabaseProxy(server, inFront.toString());
    server.on('connection', (client) => {
      proxy.join(client, connect(Number(behind.port), behind.hostname));
    });
    return proxy;
  }

  /** Nothing that the database says arrives any more; connections stay. */
  hold(): void {
    this.isHolding = true;
  }

  /** How many bytes the database has said that did not arrive. */
  get heldBytes(): number {
    return [...this.held.values()].flat().reduce((sum, { length }) => sum + length, 0);
  }

  /** What was held arrives, for each connection at once. */
  release(): void {
    this.isHolding = false;
    for (const [client, pieces] of this.held) client.write(Buffer.concat(pieces));
    this.held.clear();
  }

  /** All connections break. */
  cut(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket, database: Socket): void {
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        if (!this.isHolding) other.destroy();
      });
    }
    client.on('data', (bytes) => database.write(bytes));
    database.on('data', (bytes) => {
      if (this.isHolding) this.held.set(client, [...(this.held.get(client) ?? []), bytes]);
      else client.write(bytes);
    });
  }
}
