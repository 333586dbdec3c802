import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';

export const USAGE_EVENTS_PATH = 'v1/usage-events';
export const NDJSON = 'application/x-ndjson';
const NDJSON_TYPE = /^\s*application\/x-ndjson\s*(;|$)/i;

/** Returns true for requests that report usage. Their route reads the body itself, to report faults per event. */
export function isUsageRequest(request: Request): boolean {
  return request.method === 'POST' && request.path === `/${USAGE_EVENTS_PATH}`;
}

/**
 * Returns true for requests that report usage in lines of NDJSON. Clients may send such lines over a long time. Never
 * throws, unlike `path` of Express. Returns false if the request target is a whole URL, which clients send to proxies
 * only.
 */
export function isNdjsonUsageRequest({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'POST' &&
    url.split('?', 1)[0] === `/${USAGE_EVENTS_PATH}` &&
    NDJSON_TYPE.test(headers['content-type'] ?? '')
  );
}
