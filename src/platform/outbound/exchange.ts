import type { ClientRequest, IncomingMessage } from 'node:http';
import { OutboundError, toOutboundError } from './outbound-error';

/** An answer of any status. The caller decides whether it is a success. */
export interface OutboundAnswer {
  readonly status: number;
  /** Value of the header `Retry-After`, unchanged. */
  readonly retryAfter: string | null;
  readonly contentType: string | null;
  /** Start of the body as text, at most `keepBytes` long. U+FFFD replaces NUL and bytes that are not UTF-8. */
  readonly bodyStart: string;
  readonly durationMs: number;
}

export interface ExchangeLimits {
  /** Time limit in milliseconds for resolving the host, connecting, the TLS handshake and the answer together. */
  readonly deadlineMs: number;
  readonly keepBytes: number;
}

/**
 * Maximum number of bytes that are read and dropped after the first `keepBytes` bytes of a body. If the body ends
 * within these bytes, the connection can be used again, which is cheaper than opening a new one.
 */
const DRAINED_BYTES = 65_536;

/** Creates a request without sending it. `kept` uses a kept-alive connection if there is one; `new` opens one. */
export type Send = (connection: 'kept' | 'new') => ClientRequest;

/**
 * Sends a request and reads its answer. Resolves when the connection is free or closed, so that a limit on calls also
 * limits connections.
 * - At the deadline, closes the connection. Resolves if the body of the answer has ended or `keepBytes` of it have
 *   arrived by then.
 * - If a kept-alive connection turns out to be closed, sends the request once more on a new connection. Therefore a
 *   request may arrive twice.
 * @throws {OutboundError} when the call fails, or the deadline passes, before the body has ended or `keepBytes` arrived
 */
export function exchange(
  send: Send,
  body: string | Buffer,
  { deadlineMs, keepBytes }: ExchangeLimits,
): Promise<OutboundAnswer> {
  const startedAt = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - startedAt);
  return new Promise((resolve, reject) => {
    let isSettled = false;
    let current: ClientRequest | null = null;
    let answer: OutboundAnswer | null = null;

    const settle = (failure: () => OutboundError): void => {
      if (isSettled) return;
      isSettled = true;
      if (answer === null) reject(failure());
      else resolve(answer);
    };
    const fail = (error: unknown): void => settle(() => toOutboundError(error, elapsedMs()));

    const read = (response: IncomingMessage): void => {
      response.on('error', fail);
      readStart(response, keepBytes, (bodyStart) => {
        const { statusCode: status = 0, headers } = response;
        const retryAfter = headers['retry-after'] ?? null;
        const contentType = headers['content-type'] ?? null;
        answer ??= { status, retryAfter, contentType, bodyStart, durationMs: elapsedMs() };
      });
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
        // Closed without an error, for example by an unrequested protocol upgrade.
        settle(() => new OutboundError('reset', elapsedMs()));
      });
      request.end(body);
    };

    const deadline = setTimeout(() => {
      settle(() => new OutboundError('timeout', elapsedMs()));
      current?.destroy();
    }, deadlineMs);
    attempt('kept');
  });
}

function isClosed(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE';
}

/** Reads the start of a body. May call `report` more than once; the caller must ignore all calls except the first. */
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

/** Decodes the chunks as UTF-8, and replaces NUL, which PostgreSQL cannot store in text. */
function toStorableText(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\u{fffd}');
}
