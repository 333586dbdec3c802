import type { ClientRequest, IncomingMessage } from 'node:http';
import { OutboundError, toOutboundError } from './outbound-error';

/** An answer came; whether it is a good one is the caller's to say. */
export interface OutboundAnswer {
  readonly status: number;
  /** The header `Retry-After` as it was sent. */
  readonly retryAfter: string | null;
  /** As much of the body as was asked for, as text; U+FFFD stands for NUL and for bytes that are not UTF-8. */
  readonly bodyStart: string;
  readonly durationMs: number;
}

export interface ExchangeLimits {
  /** For everything: resolving, connecting, the handshake, the answer. */
  readonly deadlineMs: number;
  /** How much of the body is kept. */
  readonly keepBytes: number;
}

/** A body that ends within this many bytes after those kept is read to its end: cheaper than a new connection. */
const DRAINED_BYTES = 65_536;

/** Starts a request without ending it: on a connection that was kept, if there is one, or on one of its own. */
export type Send = (connection: 'kept' | 'new') => ClientRequest;

/**
 * Sends a request and reads its answer. The answer counts once the body has ended or `keepBytes` of it are there; whatever
 * the other side does, nothing is left of the call when the deadline is over.
 *
 * A kept connection may have been closed while the request was on its way, which says nothing about the receiver. The
 * request is then sent once more, on a new connection; so what is sent may arrive twice.
 *
 * @throws {OutboundError}
 */
export function exchange(
  send: Send,
  body: string,
  { deadlineMs, keepBytes }: ExchangeLimits,
): Promise<OutboundAnswer> {
  const startedAt = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - startedAt);
  return new Promise((resolve, reject) => {
    let isSettled = false;
    let current: ClientRequest | null = null;

    const settle = (decide: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      decide();
    };
    const fail = (error: unknown): void =>
      settle(() => reject(toOutboundError(error, elapsedMs())));

    const read = (response: IncomingMessage): void => {
      response.on('error', fail);
      readStart(response, keepBytes, (bodyStart) =>
        settle(() => {
          const { statusCode: status = 0, headers } = response;
          const retryAfter = headers['retry-after'] ?? null;
          resolve({ status, retryAfter, bodyStart, durationMs: elapsedMs() });
        }),
      );
    };

    const attempt = (connection: 'kept' | 'new'): void => {
      const request = send(connection);
      current = request;
      let isAnswered = false;
      request.once('response', (response) => {
        isAnswered = true;
        read(response);
      });
      request.on('error', (error) => {
        const isStale = connection === 'kept' && request.reusedSocket && !isAnswered;
        if (isStale && !isSettled && isClosed(error)) attempt('new');
        else fail(error);
      });
      request.once('close', () => {
        if (current !== request) return;
        clearTimeout(deadline);
        // Without an error before it: an upgrade nobody asked for, say.
        settle(() => reject(new OutboundError('reset', elapsedMs())));
      });
      request.end(body);
    };

    const deadline = setTimeout(() => {
      settle(() => reject(new OutboundError('timeout', elapsedMs())));
      current?.destroy();
    }, deadlineMs);
    attempt('kept');
  });
}

/** Whether a connection ended, rather than anything else going wrong on it. */
function isClosed(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE';
}

/** Reads a body as far as it is wanted. May report its start more than once; the first time counts. */
function readStart(
  response: IncomingMessage,
  keepBytes: number,
  report: (start: string) => void,
): void {
  const kept: Buffer[] = [];
  let receivedBytes = 0;
  const reportKept = (): void => report(toStorableText(kept));
  response.on('data', (chunk: Buffer) => {
    if (receivedBytes < keepBytes) kept.push(chunk.subarray(0, keepBytes - receivedBytes));
    receivedBytes += chunk.length;
    if (receivedBytes >= keepBytes) reportKept();
    if (receivedBytes > keepBytes + DRAINED_BYTES) response.destroy();
  });
  response.on('end', reportKept);
}

/** PostgreSQL keeps any text but NUL. */
function toStorableText(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\u{fffd}');
}
