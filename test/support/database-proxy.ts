import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A network fault at a statement. `hold`: the answer to the statement and all later answers wait for `release`.
 * `delay`: they wait for a fixed time. `cut`: the connection breaks after the database has answered. `lose`: the
 * connection breaks before the statement reaches the database. `leave`: the connection breaks while the database executes
 * the statement. `garble`: other bytes arrive in place of the answer.
 */
export type Fault =
  | { readonly kind: 'hold' | 'cut' | 'lose' | 'leave' }
  | { readonly kind: 'garble'; readonly answer: Buffer }
  | { readonly kind: 'delay'; readonly delayMs: number };

/** Returns the fault for a statement, by its text; null for none. */
export type FaultOf = (statement: string) => Fault | null;

interface Pair {
  readonly client: Socket;
  readonly database: Socket;
  /** Bytes from the database that are held back; null if this connection holds back nothing. */
  held: Buffer[] | null;
  /** True if the connection breaks at the next byte from the database. */
  isDoomed: boolean;
  /** Bytes that replace the next answer; null for none. */
  garbled: Buffer | null;
}

const STARTUP_HEADER_BYTES = 4;
const HEADER_BYTES = 5;

/** Proxy between an engine and its database that injects network faults. */
export class DatabaseProxy {
  private readonly pairs = new Set<Pair>();
  private isHeld = false;
  private garbled: Buffer | null = null;
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

  /** Sets the function that chooses the fault of each statement from now on. */
  inject(faultOf: FaultOf): void {
    this.faultOf = faultOf;
  }

  /** Holds all answers of the database; connections stay open. */
  hold(): void {
    this.isHeld = true;
  }

  /** Replaces each answer of the database; null: passes answers on again. */
  garble(answer: Buffer | null): void {
    this.garbled = answer;
  }

  /** Number of bytes from the database that are held back. */
  get heldBytes(): number {
    return [...this.pairs]
      .flatMap(({ held }) => held ?? [])
      .reduce((sum, { length }) => sum + length, 0);
  }

  /** Passes on the held bytes, all at once for each connection. */
  release(): void {
    this.isHeld = false;
    for (const pair of this.pairs) releasePair(pair);
  }

  /** Breaks all connections. */
  cut(): void {
    for (const pair of this.pairs) breakPair(pair);
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket, database: Socket): void {
    const pair: Pair = { client, database, held: null, isDoomed: false, garbled: null };
    this.pairs.add(pair);
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      socket.on('error', () => undefined);
      // While answers are held, the end of a connection is not passed on either.
      socket.on('close', () => {
        if (pair.held === null && !this.isHeld) other.destroy();
        if (client.destroyed && database.destroyed) this.pairs.delete(pair);
      });
    }
    const readStatements = statementReader((statement) => this.meet(pair, this.faultOf(statement)));
    client.on('data', (bytes) => {
      readStatements(bytes);
      if (!database.destroyed) database.write(bytes);
    });
    database.on('data', (bytes) => {
      if (this.isHeld) pair.held ??= [];
      if (pair.isDoomed) breakPair(pair);
      else if (pair.held !== null) pair.held.push(bytes);
      else if (!client.destroyed) client.write(this.garbled ?? pair.garbled ?? bytes);
      pair.garbled = null;
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
      case 'garble':
        pair.garbled = fault.answer;
        return;
      case 'cut':
        pair.isDoomed = true;
        return;
      case 'lose':
        breakPair(pair);
        return;
      case 'leave':
        // By then, the bytes of the statement are on their way.
        setImmediate(() => breakPair(pair));
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

/**
 * Returns a function that reads the bytes a client sends. It calls `onStatement` with the text of each statement before
 * the last byte of the statement is passed on.
 */
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
      // A Query message contains the text of a statement. A Parse message gives a text a name. A Bind message contains
      // the names of a portal and of a parsed statement.
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
