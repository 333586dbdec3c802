import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers a request; may also leave it unanswered or break the connection. */
export type Behaviour = (
  received: Received,
  response: ServerResponse,
  request: IncomingMessage,
) => void;

export interface Receiver {
  readonly url: string;
  /** All requests that arrived, in order. */
  readonly received: readonly Received[];
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export const accept: Behaviour = (_received, response) => {
  response.writeHead(204).end();
};

export function answer(status: number, headers: Record<string, string> = {}, body = ''): Behaviour {
  return (_received, response) => {
    response.writeHead(status, headers).end(body);
  };
}

/** Starts an HTTP server on a free port of this machine. It receives webhooks, as the server of a user does. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let behaviour = accept;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const arrived: Received = {
        id: headers['webhook-id'] ?? '',
        headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      received.push(arrived);
      behaviour(arrived, response, request);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    behave: (next) => {
      behaviour = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/**
 * Returns true if the published library accepts the signature of the notification. The library refuses timestamps far
 * from now, so `verifiedAt` replaces the current time.
 */
export function isVerified(received: Received, secret: string, verifiedAt: Date): boolean {
  const realNow = Date.now;
  Date.now = () => verifiedAt.getTime();
  try {
    new Webhook(secret).verify(received.body, received.headers);
    return true;
  } catch {
    return false;
  } finally {
    Date.now = realNow;
  }
}
