import type { Request } from 'express';

export const USAGE_EVENTS_PATH = 'v1/usage-events';
export const NDJSON = 'application/x-ndjson';

/** Returns true for requests that report usage. Their route reads the body itself, to report faults per event. */
export function isUsageRequest(request: Request): boolean {
  return request.method === 'POST' && request.path === `/${USAGE_EVENTS_PATH}`;
}

/** Returns true for requests that report usage in lines of NDJSON, for example as they happen. */
export function isNdjsonUsageRequest(request: Request): boolean {
  return isUsageRequest(request) && request.is(NDJSON) === NDJSON;
}
