import type { RequestHandler } from 'express';
import { requestTimeout } from '../errors';

/** Time that every body may take to arrive. Each received byte adds time (see {@link MIN_BYTES_PER_MS}). */
const MIN_BODY_MS = 10_000;

/** Minimum speed at which a large body must arrive: 10 kB per second, which is slower than any usual connection. */
const MIN_BYTES_PER_MS = 10;

/**
 * Returns middleware that reads bodies with `read`. Refuses a body that does not arrive in time, and closes its
 * connection. Otherwise idle clients could use up the memory for bodies. Counts the bytes that have arrived, because
 * the announced size can be wrong or missing.
 */
export function withinBodyTime(read: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const startedMs = performance.now();
    const { socket } = request;
    const bytesBefore = socket.bytesRead;
    let isOver = false;
    const finish = (error?: unknown): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      next(error);
    };
    const refuseIfLate = (): void => {
      if (isOver) return;
      const allowedMs = MIN_BODY_MS + (socket.bytesRead - bytesBefore) / MIN_BYTES_PER_MS;
      const leftMs = startedMs + allowedMs - performance.now();
      if (leftMs > 0) {
        timer = later(leftMs);
        return;
      }
      const reason = requestTimeout(Math.round(allowedMs));
      response.setHeader('Connection', 'close');
      // Node does not end a request when it is answered. Without this line, the service would wait for the rest of
      // the body, and keep the body in memory, for ever.
      response.once('close', () => request.destroy(reason));
      finish(reason);
    };
    // Checks after pending input was read, because this process may have been suspended.
    const later = (ms: number): NodeJS.Timeout => setTimeout(() => setImmediate(refuseIfLate), ms);
    let timer = later(MIN_BODY_MS);
    void read(request, response, finish);
  };
}
