import type { Request, RequestHandler } from 'express';
import { requestTimeout } from '../errors';

/** Time that every body may take to arrive. A large body gets more time (see {@link MIN_BYTES_PER_MS}). */
const MIN_BODY_MS = 10_000;

/** Minimum speed at which a large body must arrive: 10 kB per second, slower than any usual connection. */
const MIN_BYTES_PER_MS = 10;

/**
 * Refuses a body that `read` has not read in time, and closes its connection. Otherwise idle clients could use up the
 * memory for bodies in flight.
 * @param sizeOf returns the number of bytes that have to arrive
 */
export function withinBodyTime(
  sizeOf: (request: Request) => number,
  read: RequestHandler,
): RequestHandler {
  return (request, response, next) => {
    const allowedMs = MIN_BODY_MS + sizeOf(request) / MIN_BYTES_PER_MS;
    let isOver = false;
    const finish = (error?: unknown): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      next(error);
    };
    const timer = setTimeout(() => {
      const reason = requestTimeout(Math.round(allowedMs));
      response.setHeader('Connection', 'close');
      // Node does not end a request when it is answered. Without this line, the service would wait for the rest of
      // the body, and keep the body in memory, for ever.
      response.once('close', () => request.destroy(reason));
      finish(reason);
    }, allowedMs);
    void read(request, response, finish);
  };
}
