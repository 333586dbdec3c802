import type { Request, RequestHandler } from 'express';
import { serviceUnavailable } from '../errors';

/** Bodies up to this size have a budget of their own, so that a few large bodies do not block small ones. */
const SMALL_BYTES = 65_536;
const SMALL_BUDGET_BYTES = 32 * 2 ** 20;
const LARGE_BUDGET_BYTES = 128 * 2 ** 20;
/**
 * Size of each of the budgets that callers without a credential have. They are separate, so that such callers cannot
 * use up the budgets of other callers.
 */
const ANONYMOUS_BUDGET_BYTES = 16 * 2 ** 20;

/** Limits the memory that the bodies of requests in flight use together. */
class Budget {
  private used = 0;

  constructor(private readonly maxBytes: number) {}

  take(bytes: number): boolean {
    if (this.used + bytes > this.maxBytes) return false;
    this.used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.used -= bytes;
  }
}

/**
 * Refuses a request with 503 and `Retry-After`, without reading its body, if its body does not fit into the memory
 * budget together with the bodies of the requests in flight. A body counts from the arrival of the request's headers
 * until the request has been answered.
 * @param sizeOf returns the maximum number of bytes that the body of a request uses in memory
 */
export function limitBodiesInFlight(
  sizeOf: (request: Request) => number,
  isAnonymous: (request: Request) => boolean,
): RequestHandler {
  const known = { small: new Budget(SMALL_BUDGET_BYTES), large: new Budget(LARGE_BUDGET_BYTES) };
  const anonymous = {
    small: new Budget(ANONYMOUS_BUDGET_BYTES),
    large: new Budget(ANONYMOUS_BUDGET_BYTES),
  };
  return (request, response, next) => {
    // The client has disconnected. `close` was emitted already, so a listener added now would not release the bytes.
    if (response.destroyed) return;
    const bytes = sizeOf(request);
    const { small, large } = isAnonymous(request) ? anonymous : known;
    const budget = bytes <= SMALL_BYTES ? small : large;
    if (!budget.take(bytes)) {
      next(
        serviceUnavailable('Too many bytes of request bodies are in flight. Nothing was stored.'),
      );
      return;
    }
    response.once('close', () => {
      budget.release(bytes);
    });
    next();
  };
}

/**
 * Returns the announced size of a body in bytes, but at most `maxBytes`. Returns `maxBytes` if the size is unknown or
 * the body is compressed.
 */
export function announcedBytes({ headers }: Request, maxBytes: number): number {
  const isPacked = (headers['content-encoding'] ?? 'identity') !== 'identity';
  const length = Number(headers['content-length'] ?? Number.NaN);
  return isPacked || Number.isNaN(length) ? maxBytes : Math.min(length, maxBytes);
}
