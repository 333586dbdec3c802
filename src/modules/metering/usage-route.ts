import type { Request } from 'express';

export const USAGE_EVENTS_PATH = 'v1/usage-events';

/** Returns true if the request reports usage: its route reads the body itself and reports faults per item. */
export function isUsageRequest(request: Request): boolean {
  return request.method === 'POST' && request.path === `/${USAGE_EVENTS_PATH}`;
}
