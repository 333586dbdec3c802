import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A fault of the network at one statement. `hold`: its answer, and all after it, waits for `release`. `delay`: the same
 * for a fixed time. `cut`: the connection breaks when the database has answered. `lose`: it breaks before the statement
 * reaches the database.
 */
export type Fault =
  { readonly kind: 'hold' | 'cut' | 'lose' } | { readonly kind: 'delay'; readonly delayMs: number };

/** Decides which fault a statement meets, by its text; null for none. */
export type FaultOf = (statement: string) => Fault | null;

interface Pair {
  readonly client: Socket;
  readonly database: Socket;
  /** Bytes of the database that did not arrive; null while nothing is held on this connection. */
  held: Buffer[] | null;
  /** The connection breaks at the next byte of the database. */
  isDoomed: boolean;
}

const STARTUP_HEADER_BYTES = 4;
const HEADER_BYTES = 5;

/** Stands between an engine and its database, and breaks what goes between them in the ways that networks do. */
export class DatabaseProxy {
  private readonly pairs = new Set<Pair>();
  private isHolding = false;
  private faultOf: FaultOf = () => null;

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

  /** Asks for the fault of each statement from now on. */
  inject(faultOf: FaultOf): void {
    this.faultOf = faultOf;
  }

  /** Nothing that the database says arrives any more; connections stay. */
  hold(): void {
    this.isHolding = true;
  }

  /** How many bytes the database has said that did not arrive. */
  get heldBytes(): number {
    return [...this.pairs]
      .flatMap(({ held }) => held ?? [])
      .reduce((sum, { length }) => sum + length, 0);
  }

  /** What was held arrives, for each connection at once. */
  release(): void {
    this.isHolding = false;
    for (const pair of this.pairs) releasePair(pair);
  }

  /** All connections break. */
  cut(): void {
    for (const pair of this.pairs) breakPair(pair);
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket, database: Socket): void {
    const pair: Pair = { client, database, held: null, isDoomed: false };
    this.pairs.add(pair);
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      socket.on('error', () => undefined);
      // While answers are held the end of a connection does not get through either.
      socket.on('close', () => {
        if (pair.held === null && !this.isHolding) other.destroy();
        if (client.destroyed && database.destroyed) this.pairs.delete(pair);
      });
    }
    const readStatements = statementReader((statement) => this.meet(pair, this.faultOf(statement)));
    client.on('data', (bytes) => {
      readStatements(bytes);
      if (!database.destroyed) database.write(bytes);
    });
    database.on('data', (bytes) => {
      if (this.isHolding) pair.held ??= [];
      if (pair.isDoomed) breakPair(pair);
      else if (pair.held !== null) pair.held.push(bytes);
      else if (!client.destroyed) client.write(bytes);
    });
  }

  private meet(pair: Pair, fault: Fault | null): void {
    switch (fault?.kind) {
      case 'hold':
        pair.held ??= [];
        return;
      case 'delay':
        pair.held ??= [];
        // eslint-disable-next-line project/no-sleep -- the fault is the delay; nothing waits for it
        setTimeout(() => releasePair(pair), fault.delayMs).unref();
        return;
      case 'cut':
        pair.isDoomed = true;
        return;
      case 'lose':
        breakPair(pair);
        return;
      case undefined:
    }
  }
}

function releasePair(pair: Pair): void {
  const { client, database, held } = pair;
  pair.held = null;
  if (client.destroyed || database.destroyed) {
    client.destroy();
    database.destroy();
  } else if (held !== null) client.write(Buffer.concat(held));
}

function breakPair({ client, database }: Pair): void {
  client.resetAndDestroy();
  database.resetAndDestroy();
}

/** Calls back with the text of each statement of one connection, before its last byte is passed on. */
function statementReader(onStatement: (text: string) => void): (bytes: Buffer) => void {
  const prepared = new Map<string, string>();
  let rest: Buffer = Buffer.alloc(0);
  let hasStarted = false;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const header = hasStarted ? HEADER_BYTES : STARTUP_HEADER_BYTES;
      if (rest.length < header) return;
      const end = header - STARTUP_HEADER_BYTES + rest.readInt32BE(header - STARTUP_HEADER_BYTES);
      if (rest.length < end) return;
      const body = rest.subarray(header, end);
      const type = hasStarted ? String.fromCharCode(rest[0] ?? 0) : 'startup';
      // Query; Parse names a text; Bind names a portal and what was parsed.
      if (type === 'Q') onStatement(textAt(body, 0));
      if (type === 'P') prepared.set(textAt(body, 0), textAt(body, body.indexOf(0) + 1));
      if (type === 'B') onStatement(prepared.get(textAt(body, body.indexOf(0) + 1)) ?? '');
      hasStarted = true;
      rest = rest.subarray(end);
    }
  };
}

function textAt(body: Buffer, start: number): string {
  return body.toString('utf8', start, body.indexOf(0, start));
}
