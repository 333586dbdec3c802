import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const VALID_REQUEST_ID = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/** Returns the `X-Request-Id` of the request if it is valid, otherwise a new id. Sets the id on the answer. */
export function assignRequestId(request: IncomingMessage, response: ServerResponse): string {
  const sent = request.headers['x-request-id'];
  const id = typeof sent === 'string' && VALID_REQUEST_ID.test(sent) ? sent : randomUUID();
  response.setHeader('X-Request-Id', id);
  return id;
}

/** Returns the id from {@link assignRequestId}, which the request log has stored on the request. */
export function requestIdOf(request: IncomingMessage): string {
  const { id } = request as IncomingMessage & { readonly id?: unknown };
  return typeof id === 'string' ? id : 'unknown';
}
