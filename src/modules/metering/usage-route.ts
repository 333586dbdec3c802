import type { Request } from 'express';

export const USAGE_EVENTS_PATH = 'v1/usage-events';

/** Whether the request reports usage: its body is read by its own route, which tells what is wrong item by item. */
export function isUsageRequest(request: Request): boolean {
  return request.method === 'POST' && request.path === `/${USAGE_EVENTS_PATH}`;
}
