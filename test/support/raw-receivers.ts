import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A server that counts the connections to it. */
export interface Receiver {
  readonly port: number;
  readonly connections: number;
  close(): Promise<void>;
}

/** Starts a server on a free port and counts the connections to it. */
export async function listen(server: Server, host: string, port = 0): Promise<Receiver> {
  const open = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // Ignores errors, because clients may close the connection at any time, which the tests provoke.
    socket.on('error', () => undefined);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Starts a server that calls `behave` when the first bytes of a request arrive. `behave` sends the response. */
export function rawReceiver(behave: (socket: Socket) => void): Promise<Receiver> {
  return listen(
    createServer((socket) => socket.once('data', () => behave(socket))),
    '127.0.0.1',
  );
}

/** Servers to which the service must never connect, on each kind of local address and several ports. */
export interface Canary {
  readonly ports: readonly number[];
  /**
   * Returns how often the service connected. Connects to each server itself first: then all earlier connections are
   * counted.
   */
  settledConnections(): Promise<number>;
  close(): Promise<void>;
}

export async function startCanary(): Promise<Canary> {
  const hosts = ['127.0.0.1', '127.0.0.1', '0.0.0.0', '::1'];
  const listeners: { readonly host: string; readonly receiver: Receiver }[] = [];
  for (const host of hosts) {
    const answering = createServer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ncanary'),
    );
    listeners.push({ host, receiver: await listen(answering, host) });
  }
  let ownConnections = 0;
  return {
    ports: listeners.map(({ receiver }) => receiver.port),
    settledConnections: async () => {
      for (const { host, receiver } of listeners) {
        const socket = connect(receiver.port, host === '0.0.0.0' ? '127.0.0.1' : host);
        await once(socket, 'data');
        socket.destroy();
        ownConnections += 1;
      }
      const all = listeners.reduce((sum, { receiver }) => sum + receiver.connections, 0);
      return all - ownConnections;
    },
    close: async () => {
      for (const { receiver } of listeners) await receiver.close();
    },
  };
}
